import type { Command } from 'commander';
import { uuidv7 } from 'uuidv7';
import type { Memory, MemoryPage, MemoryWithHistory } from '../../../../shared/client/main.ts';
import { atBroker, type CommonOptions, clientOf, wholeNumber } from '../../access.ts';
import { example } from '../../example.ts';
import { installationIn } from '../../installation.ts';
import { listCommand } from '../../list-command.ts';
import { showLines } from '../../pager.ts';
import { asJson, oneLine, table, type World } from '../../terminal.ts';
import { ago, timeText, zoneOf } from '../../time.ts';

interface MemoryResponse {
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

/** `natter memory`: long-term memory, where each entry came from, and changes by people (A7/82). */
export const memoryCommand = (program: Command, world: World): void => {
  const memory = program.command('memory').addHelpText('after', example('memory search "build server"'));
  addReading(memory, world);
  addShow(memory, world);
  addChanges(memory, world);
  addRebuild(memory, world);
};

const showAll = async (world: World, memories: readonly Memory[], none: string, json: boolean): Promise<void> => {
  const { terminal, now } = world;
  if (json) return terminal.out(asJson({ memories }, 2));
  if (memories.length === 0) return terminal.note(none);
  const rows = memories.map(({ id, updatedAt, scope, text }) => [
    id,
    ago(updatedAt, now()),
    oneLine(scope, 48),
    oneLine(text, 100),
  ]);
  await showLines(world, table(['MEMORY', 'CHANGED', 'SCOPE', 'WHAT'], rows));
};

const addReading = (memory: Command, world: World): void => {
  const reading = (command: Command, usual: number, line: string) =>
    command
      .option('--scope <scope>', 'only agent:<agentId>, person:<agentId>:<person> or session:<key>')
      .option('--limit <count>', 'maximum number of memories', wholeNumber(1, 1_000), usual)
      .option('--json', 'print JSON')
      .addHelpText('after', example(line));
  const show = async (command: Command, words?: readonly string[]): Promise<void> => {
    const { json = false, scope, limit, ...common } = command.optsWithGlobals<Options>();
    const query = { ...(words && { query: words.join(' ') }), scope, limit };
    const { memories } = await clientOf(world, common).get<MemoryPage>('/v1/memory', { query });
    await showAll(world, memories, words === undefined ? 'no memories' : 'no memory matches', json);
  };
  reading(listCommand(memory, 'list memories, most recently changed first'), 50, 'memory list --limit 20').action(
    (_: unknown, command: Command) => show(command),
  );
  reading(memory.command('search').description('search memories, best match first'), 20, 'memory search build server')
    .argument('<words...>', 'words to look for')
    .action((words: string[], _: unknown, command: Command) => show(command, words));
};

const addShow = (memory: Command, world: World): void => {
  const { terminal } = world;
  memory
    .command('show')
    .argument('<id>', 'id of the memory, from the list')
    .description('show one memory and its history')
    .option('--json', 'print JSON')
    .addHelpText('after', example('memory show ID'))
    .action(async (id: string, _: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<Options>();
      const read = await clientOf(world, common).get<MemoryWithHistory>(path(id));
      if (json) return terminal.out(asJson(read, 2));
      terminal.out(`${read.id}  ${read.scope}`);
      terminal.out(oneLine(read.text, 4_000));
      for (const { at, op, by, person, key, fromRev, toRev, from, seq, reason, text } of read.history) {
        const who = person === undefined ? by : `${by} ${person}`;
        const basis = from === undefined ? '' : `, based on ${from.join(', ')}`;
        const what = op === 'forget' ? (reason ?? '') : (text ?? '');
        terminal.out(
          `${timeText(at, zoneOf(world, common))}  ${op} by ${who}, from ${key} revs ${fromRev}–${toRev}${basis} (commit ${seq}): ${oneLine(what, 200)}`,
        );
      }
    });
};

const addChanges = (memory: Command, world: World): void => {
  const { terminal } = world;
  memory
    .command('add')
    .argument('<text>', 'the fact to remember')
    .description('add a memory')
    .option('--scope <scope>', 'agent, person:<agentId>:<person> or session:<key>', 'agent')
    .option('--json', 'print JSON')
    .addHelpText('after', example('memory add "the build server is called Anvil"'))
    .action(async (text: string, _: unknown, command: Command) => {
      const { json, scope, ...common } = command.optsWithGlobals<Options>();
      const headers = { 'idempotency-key': uuidv7() };
      const added = await clientOf(world, common).post<MemoryResponse>('/v1/memory', { text, scope }, { headers, patienceMs });
      if (json) return terminal.out(asJson(added, 2));
      terminal.out(added.id === undefined ? 'stored; it will be remembered' : `${added.id} is remembered for ${added.scope}`);
    });
  memory
    .command('forget')
    .argument('<id>', 'id of the memory, from the list')
    .description('remove a memory; the log of its session keeps what was said')
    .option('--reason <text>', 'reason; it stays in the log', 'asked for')
    .option('--json', 'print JSON')
    .addHelpText('after', example('memory forget ID --reason "outdated"'))
    .action(async (id: string, _: unknown, command: Command) => {
      const { json, reason, ...common } = command.optsWithGlobals<Options>();
      const given = { query: { reason }, headers: { 'idempotency-key': uuidv7() }, patienceMs };
      const forgotten = await clientOf(world, common).delete<MemoryResponse>(path(id), given);
      if (json) return terminal.out(asJson(forgotten, 2));
      terminal.out(forgotten.status === 'accepted' ? `${id} will be forgotten` : `${id} is forgotten`);
    });
};

const addRebuild = (memory: Command, world: World): void => {
  const { terminal } = world;
  memory
    .command('rebuild')
    .description('rebuild the memory from the log; needs the broker and a running checkpoint service')
    .addHelpText('after', example('memory rebuild'))
    .action(async (_: unknown, command: Command) => {
      const config = atBroker(world, command.optsWithGlobals<CommonOptions>());
      // Loaded on demand: the broker client is large.
      const { existingBroker } = await import('../../runtime/broker.ts');
      const { withPorts } = await import('../../runtime/ports.ts');
      // The checkpoint service then reads the log from its beginning.
      await withPorts(config, existingBroker(config, installationIn(config.dataDir)), ({ memory: store }) => store.reset());
      terminal.out(
        'the checkpoint service rebuilds the memory from the log; the metric natter_memory_position shows its progress',
      );
    });
};
