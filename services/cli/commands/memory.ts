import type { Command } from 'commander';
import { uuidv7 } from 'uuidv7';
import { atBroker, type CommonOptions, clientOf, wholeNumber } from '../access.ts';
import { installationIn } from '../installation.ts';
import { asJson, oneLine, table, type World } from '../terminal.ts';
import { ago } from '../time.ts';

interface Remembered {
  readonly id: string;
  readonly scope: string;
  readonly text: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly source: { readonly key: string; readonly fromRev: number; readonly toRev: number; readonly by: string };
}
interface Read extends Remembered {
  readonly history: readonly (Remembered['source'] & {
    readonly at: number;
    readonly seq: number;
    readonly op: string;
    readonly person?: string;
    readonly text?: string;
    readonly reason?: string;
    readonly from?: readonly number[];
  })[];
}
interface Answered {
  readonly id?: string;
  readonly status: string;
  readonly scope?: string;
}
type Options = CommonOptions & {
  readonly json?: boolean;
  readonly scope?: string;
  readonly limit?: number;
  readonly reason?: string;
};

const patienceMs = 10_000;
const path = (id: string): string => `/v1/memory/${encodeURIComponent(id)}`;

/** `natter memory`: what is remembered, why, and people's changes of it (A7/82). */
export const memoryCommand = (program: Command, world: World): void => {
  const { terminal } = world;
  const memory = program.command('memory').description('what the agents remember beyond a session');

  const tell = (memories: readonly Remembered[], json: boolean): void => {
    if (json) return terminal.out(asJson({ memories }, 2));
    if (memories.length === 0) return terminal.note('nothing is remembered');
    const rows = memories.map(({ id, updatedAt, scope, text }) => [
      id,
      ago(updatedAt, world.now()),
      oneLine(scope, 48),
      oneLine(text, 100),
    ]);
    for (const line of table(['MEMORY', 'CHANGED', 'SCOPE', 'WHAT'], rows)) terminal.out(line);
  };
  const look = (name: string, description: string) =>
    memory
      .command(name)
      .description(description)
      .option('--scope <scope>', 'only of agent:<agentId>, person:<agentId>:<person> or session:<key>')
      .option('--limit <number>', 'how many at most (50 unless said)', wholeNumber(1, 1_000))
      .option('--json', 'as JSON');

  look('list', 'list what is remembered, what changed last first').action(async (_: unknown, command: Command) => {
    const { json = false, scope, limit, ...common } = command.optsWithGlobals<Options>();
    const query = { scope, limit: limit ?? 50 };
    tell((await clientOf(world, common).get<{ memories: Remembered[] }>('/v1/memory', { query })).memories, json);
  });
  look('search', 'search what is remembered, the best match first')
    .argument('<words...>', 'what to look for')
    .action(async (words: string[], _: unknown, command: Command) => {
      const { json = false, scope, limit, ...common } = command.optsWithGlobals<Options>();
      const query = { query: words.join(' '), scope, limit: limit ?? 20 };
      tell((await clientOf(world, common).get<{ memories: Remembered[] }>('/v1/memory', { query })).memories, json);
    });
  memory
    .command('show')
    .argument('<id>', 'the memory, as the list has it')
    .description('tell one memory, and how it came to be')
    .option('--json', 'as JSON')
    .action(async (id: string, _: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<Options>();
      const read = await clientOf(world, common).get<Read>(path(id));
      if (json) return terminal.out(asJson(read, 2));
      terminal.out(`${read.id}  ${read.scope}`);
      terminal.out(oneLine(read.text, 4_000));
      for (const { at, op, by, person, key, fromRev, toRev, from, seq, reason, text } of read.history) {
        const who = person === undefined ? by : `${by} ${person}`;
        const rests = from === undefined ? '' : `, resting on ${from.join(', ')}`;
        const what = op === 'forget' ? (reason ?? '') : (text ?? '');
        terminal.out(
          `${new Date(at).toISOString()}  ${op} by ${who}, from ${key} revs ${fromRev}–${toRev}${rests} (commit ${seq}): ${oneLine(what, 200)}`,
        );
      }
    });
  memory
    .command('add')
    .argument('<text>', 'one fact')
    .description('have something remembered')
    .option('--scope <scope>', 'agent, person:<agentId>:<person> or session:<key>', 'agent')
    .option('--json', 'the answer of the gateway as JSON')
    .action(async (text: string, _: unknown, command: Command) => {
      const { json, scope, ...common } = command.optsWithGlobals<Options>();
      const headers = { 'idempotency-key': uuidv7() };
      const added = await clientOf(world, common).post<Answered>('/v1/memory', { text, scope }, { headers, patienceMs });
      if (json) return terminal.out(asJson(added, 2));
      terminal.out(
        added.id === undefined ? 'it is stored and will be remembered' : `${added.id} is remembered for ${added.scope}`,
      );
    });
  memory
    .command('forget')
    .argument('<id>', 'the memory, as the list has it')
    .description('have a memory forgotten; the log of its session still has what was said')
    .option('--reason <text>', 'why; stays in the log', 'asked for')
    .option('--json', 'the answer of the gateway as JSON')
    .action(async (id: string, _: unknown, command: Command) => {
      const { json, reason, ...common } = command.optsWithGlobals<Options>();
      const given = { query: { reason }, headers: { 'idempotency-key': uuidv7() }, patienceMs };
      const forgotten = await clientOf(world, common).delete<Answered>(path(id), given);
      if (json) return terminal.out(asJson(forgotten, 2));
      terminal.out(forgotten.status === 'accepted' ? `${id} will be forgotten` : `${id} is forgotten`);
    });
  memory
    .command('rebuild')
    .description('make the memory anew from the log; needs the broker, and a checkpoint service that does it')
    .action(async (_: unknown, command: Command) => {
      const config = atBroker(world, command.optsWithGlobals<CommonOptions>());
      // Loaded only when it is needed: the client of the broker is large.
      const { existingBroker } = await import('../runtime/broker.ts');
      const { withPorts } = await import('../runtime/ports.ts');
      // The log is read from its beginning by whoever writes the memory.
      await withPorts(config, existingBroker(config, installationIn(config.dataDir)), ({ memory: store }) => store.reset());
      terminal.out(
        'the checkpoint service makes the memory anew from the log; the metric natter_memory_position says how far it is',
      );
    });
};
