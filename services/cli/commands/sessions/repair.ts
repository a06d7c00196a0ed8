import type { Command } from 'commander';
import pc from 'picocolors';
import type { Taken } from '../../../../shared/client/main.ts';
import { gapText, type HistoryGap } from '../../../../shared/domain/session/chain.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { type CommonOptions, clientOf } from '../../access.ts';
import { isConfirmed } from '../../confirm.ts';
import { example, words } from '../../example.ts';
import { asJson, oneLine, type World } from '../../terminal.ts';
import { timeText, zoneOf } from '../../time.ts';

interface RepairOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly reason?: string;
  readonly json?: boolean;
}

/** The answer of `GET /v1/sessions/{key}/damage`. */
interface Damage {
  readonly gaps: readonly HistoryGap[];
  readonly lastRev: number;
  readonly lastSeq: number;
  readonly known: { readonly rev: number; readonly at: number; readonly sessionId: string; readonly messages: number };
}

/** `natter repair` (F13): shows what the log of a session lacks, and records a person's decision to go on without it. */
export const repairCommand = (program: Command, world: World): void => {
  program
    .command('repair')
    .argument('<key>', 'session key, such as agent:main:main')
    .option('--reason <text>', 'why; it stays in the log. Without it nothing is changed')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print JSON')
    .addHelpText('after', words('commit', 'generation', 'rev', 'sequence'))
    .addHelpText('after', example('repair agent:main:main --reason "disk replaced, no backup"'))
    .action(async (key: string, _: unknown, command: Command) => {
      const { reason, yes, json, ...common } = command.optsWithGlobals<RepairOptions>();
      if (reason !== undefined && (reason === '' || reason.length > 500))
        throw new NatterError('invalid', '--reason: use 1 to 500 characters', { field: 'reason' });
      const client = clientOf(world, common);
      const path = `/v1/sessions/${encodeURIComponent(key)}`;
      const damage = await client.get<Damage>(`${path}/damage`, { timeoutMs: 60_000 });
      if (json && reason === undefined) world.terminal.out(asJson(damage, 2));
      if (!json) show(world, key, damage, zoneOf(world, common));
      if (damage.gaps.length === 0) return;
      if (reason === undefined) {
        process.exitCode = 1;
        return;
      }
      const question = `Go on with ${oneLine(key, 256)} without what is lost?`;
      if (!yes && !(await isConfirmed(world, question, 'repair'))) return world.terminal.note('nothing was changed');
      const taken = await client.post<Taken>(`${path}/repair`, { reason }, { timeoutMs: 60_000 });
      if (json) world.terminal.out(asJson(taken, 2));
      else world.terminal.out(doneText(key, taken));
    });
};

const show = ({ terminal }: World, key: string, { gaps, lastRev, lastSeq, known }: Damage, zone: string): void => {
  const name = pc.bold(oneLine(key, 256));
  if (gaps.length === 0) return terminal.out(`${name}  every commit is there and as it was written`);
  terminal.out(`${name}  is damaged`);
  for (const gap of gaps) {
    const place =
      gap.beforeSeq === null ? `after sequence ${gap.afterSeq}` : `between sequences ${gap.afterSeq} and ${gap.beforeSeq}`;
    terminal.out(`  ${gapText(gap)}, ${place}`);
  }
  terminal.out(`  the last commit that can be read is rev ${lastRev} at sequence ${lastSeq}`);
  const from = known.at === 0 ? 'nothing is known of it any more' : `rev ${known.rev} of ${timeText(known.at, zone)}`;
  terminal.out(`  it would go on from: ${from}, in a new generation; a turn, an approval or a queue of before is void`);
  terminal.out(
    pc.dim('Before you decide: bring the store back if you can (docs/operate/operations.md, "A session is damaged").'),
  );
};

const doneText = (key: string, { status, seq }: Taken): string =>
  status === 'accepted'
    ? `${oneLine(key, 256)}: the decision is stored and will take effect`
    : `${oneLine(key, 256)} goes on; the decision is recorded at sequence ${seq}`;
