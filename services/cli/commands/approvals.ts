import { Argument, type Command } from 'commander';
import type { PendingApproval, Verdict } from '../../../shared/client/main.ts';
import { type CommonOptions, clientOf } from '../access.ts';
import { asJson, oneLine, table, type World } from '../terminal.ts';
import { ago } from '../time.ts';

const patienceMs = 10_000;
const verdicts = ['allow-once', 'allow-always', 'deny'] as const satisfies readonly Verdict[];

/** Lines that show pending approvals to a person. */
export const approvalLines = (approvals: readonly PendingApproval[], now: number): string[] =>
  table(
    ['APPROVAL', 'ASKED', 'SESSION', 'WHAT'],
    approvals.map(({ approvalId, requestedAt, sessionKey, action, asks }) => [
      approvalId,
      ago(requestedAt, now),
      oneLine(sessionKey, 60),
      `${asks === 'retry' ? 'do again what was cut off: ' : ''}${oneLine(action, 100)}`,
    ]),
  );

interface ResolveOptions extends CommonOptions {
  readonly reason?: string;
  readonly session?: string;
  readonly json?: boolean;
}
/** `natter approvals list|resolve` (A5/62): what tools wait for, and a person's word on it. */
export const approvalsCommand = (program: Command, world: World): void => {
  const approvals = program.command('approvals').description('calls of tools that wait for a person');
  approvals
    .command('list')
    .description('list the pending approvals, newest first')
    .option('--json', 'every entry, as JSON')
    .action(async (_: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<CommonOptions & { json?: boolean }>();
      const pending: PendingApproval[] = [];
      for await (const approval of clientOf(world, common).approvals.list()) pending.push(approval);
      if (json) world.terminal.out(asJson({ approvals: pending }, 2));
      else if (pending.length === 0) world.terminal.note('nothing waits for an approval');
      else for (const line of approvalLines(pending, world.now())) world.terminal.out(line);
    });
  approvals
    .command('resolve')
    .argument('<id>', 'the approval, as the list has it')
    .addArgument(new Argument('<verdict>', 'allow-always: the same tool with the same arguments, until /new').choices(verdicts))
    .description('answer an approval')
    .option('--reason <text>', 'why; the model is told it')
    .option('--session <key>', 'the session that asks, where the list does not have it yet')
    .option('--json', 'the answer of the gateway as JSON')
    .action(async (id: string, verdict: Verdict, _: unknown, command: Command) => {
      const { reason, session: sessionKey, json, ...common } = command.optsWithGlobals<ResolveOptions>();
      const given = { reason, sessionKey, patienceMs };
      const answered = await clientOf(world, common).approvals.resolve(id, verdict, given);
      if (json) return world.terminal.out(asJson(answered, 2));
      const outcome = answered.status === 'accepted' ? 'is stored and will take effect' : 'is recorded';
      world.terminal.out(`${answered.verdict} for ${answered.approvalId} ${outcome}; the session is ${answered.sessionKey}`);
    });
};
