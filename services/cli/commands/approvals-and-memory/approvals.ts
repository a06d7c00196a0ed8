import { Argument, type Command, InvalidArgumentError } from 'commander';
import type { NatterClient, PendingApproval, Verdict } from '../../../../shared/client/main.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf } from '../../access.ts';
import { example } from '../../example.ts';
import { listCommand } from '../../list-command.ts';
import { showLines } from '../../pager.ts';
import { asJson, columnsOf, oneLine, table, type World } from '../../terminal.ts';
import { ago } from '../../time.ts';

const patienceMs = 10_000;
const verdicts = ['allow-once', 'allow-always', 'deny'] as const satisfies readonly Verdict[];
/** As a chat takes them. */
const inChat: ReadonlyMap<string, Verdict> = new Map([
  ...['y', 'yes'].map((word) => [word, 'allow-once'] as const),
  ...['a', 'always'].map((word) => [word, 'allow-always'] as const),
  ...['n', 'no'].map((word) => [word, 'deny'] as const),
]);
const verdictIn = (text: string): Verdict => {
  const verdict = verdicts.find((each) => each === text) ?? inChat.get(text.toLowerCase());
  if (verdict !== undefined) return verdict;
  throw new InvalidArgumentError(`Allowed choices are ${verdicts.join(', ')}; or y, a and n, as in a chat.`);
};

/** Pending approvals as lines of a table of at most `columns`, each with its address on the page below it, if it has one. */
export const approvalLines = (approvals: readonly PendingApproval[], now: number, columns: number): string[] => {
  const [head = '', ...lines] = table(
    ['APPROVAL', 'ASKED', 'SESSION', 'WHAT'],
    approvals.map(({ approvalId, requestedAt, sessionKey, action, asks }) => [
      approvalId,
      ago(requestedAt, now),
      oneLine(sessionKey, limits.sessionKeyBytes),
      `${asks === 'retry' ? 'run again after an interruption: ' : ''}${oneLine(action, 100)}`,
    ]),
    columns,
  );
  const withAddress = approvals.flatMap(({ pageUrl }, at) => [
    lines[at] ?? '',
    ...(pageUrl ? [`  ${oneLine(pageUrl, 1_000)}`] : []),
  ]);
  return [head, ...withAddress];
};

interface ResolveOptions extends CommonOptions {
  readonly reason?: string;
  readonly session?: string;
  readonly json?: boolean;
}
/** Whether a pending approval can be given for one call only. */
const mayBeAllowedOnce = async (client: NatterClient, id: string): Promise<boolean> => {
  for await (const { approvalId, onceOnly } of client.approvals.list()) if (approvalId === id.toLowerCase()) return onceOnly;
  return false;
};

/** `natter approvals list|resolve` (A5/62): tool calls awaiting approval, and a person's decision on them. */
export const approvalsCommand = (program: Command, world: World): void => {
  const approvals = program.command('approvals').addHelpText('after', example('approvals list'));
  listCommand(approvals, 'list pending approvals, newest first')
    .option('--json', 'print JSON')
    .addHelpText('after', example('approvals list'))
    .action(async (_: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<CommonOptions & { json?: boolean }>();
      const pending: PendingApproval[] = [];
      for await (const approval of clientOf(world, common).approvals.list()) pending.push(approval);
      if (json) world.terminal.out(asJson({ approvals: pending }, 2));
      else if (pending.length === 0) world.terminal.note('no pending approvals');
      else await showLines(world, approvalLines(pending, world.now(), columnsOf(world)));
    });
  approvals
    .command('resolve')
    .argument('<approval>', 'id of the approval, from the list')
    .addArgument(
      new Argument('<verdict>', 'allow-always also allows the same tool with the same arguments until /new')
        .choices(verdicts)
        .argParser(verdictIn),
    )
    .description('approve or deny a tool call')
    .option('--reason <text>', 'reason; the model sees it')
    .option('--session <key>', 'session of the approval, if the list does not have it yet')
    .option('--json', 'print JSON')
    .addHelpText('after', example('approvals resolve ID allow-once'))
    .action(async (id: string, verdict: Verdict, _: unknown, command: Command) => {
      const { reason, session: sessionKey, json, ...common } = command.optsWithGlobals<ResolveOptions>();
      const given = { reason, sessionKey, patienceMs };
      const client = clientOf(world, common);
      const isOnceOnly = verdict === 'allow-always' && (await mayBeAllowedOnce(client, id));
      const answered = await client.approvals.resolve(id, verdict, given);
      if (json) return world.terminal.out(asJson(answered, 2));
      const outcome = answered.status === 'accepted' ? 'is stored and will take effect' : 'is recorded';
      world.terminal.out(`${answered.verdict} for ${answered.approvalId} ${outcome}; the session is ${answered.sessionKey}`);
      if (isOnceOnly) world.terminal.note('it counts as allow-once: the next such call asks again');
    });
};
