import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { type IndexRow, type PendingApproval, pendingIn } from '../../../shared/domain/projections/index-row.ts';
import type { CommandOf } from '../../../shared/domain/session/commands.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import { holderOf } from '../access/speaker.ts';
import { type Caller, idempotentIdOf } from '../commands/envelope.ts';
import { sendCommand } from '../commands/send-command.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { Refusal } from '../http/problem.ts';
import type { verdicts } from '../operation/verdicts.ts';
import { isPageOn } from '../page/is-page-on.ts';
import { keysOf } from '../sessions/list-rows.ts';

/** The pending approvals of a session, newest first. */
const shownOf = (config: GatewayContext['config'], row: IndexRow): readonly object[] => {
  const sessionKey = keysOf(row, config).key;
  const pending = pendingIn(row).toSorted((one, other) => other.requestedAt - one.requestedAt);
  const sessionName = givenName(row);
  const pageUrl = ({ approvalId }: PendingApproval) => {
    const { publicUrl } = config.gateway;
    return publicUrl !== undefined && isPageOn(config) && { pageUrl: `${publicUrl}/#/approvals/${approvalId}` };
  };
  return pending.map((approval) => ({
    ...shown({ sessionKey, ...(sessionName && { sessionName }) }, approval),
    ...pageUrl(approval),
  }));
};
/** The name that somebody gave the session or its chat. Never its first words: an approver sees nothing that was said. */
const givenName = ({ settings, origin }: IndexRow): string | undefined =>
  settings.displayName || origin.displayName || origin.label;
/** A pending approval, as lists show it. */
const shown = (session: { sessionKey: string; sessionName?: string }, approval: PendingApproval): object => {
  const { approvalId, tool, action, asks = 'run', requestedAt, expiresAt, approvers = [], onceOnly = false } = approval;
  return { approvalId, ...session, ...(tool && { tool }), action, asks, requestedAt, expiresAt, approvers, onceOnly };
};
/** The pending approvals of the sessions that the caller may see or answer for, newest first. */
export const listApprovals = (
  { sessions, access, config }: GatewayContext,
  { principal }: Caller,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
) => {
  const { rows, nextCursor } = sessions.list({
    ...{ limit, cursor },
    ...{ asks: true, status: 'all' },
    withGlobal: config.session.scope === 'global',
    reach: access.approvalReach(principal),
  });
  return { approvals: rows.flatMap((row) => shownOf(config, row)), nextCursor };
};
type Verdict = (typeof verdicts)[number];
const meanings: Readonly<Record<Verdict, Pick<CommandOf<'resolve_approval'>, 'verdict' | 'scope'>>> = {
  'allow-once': { verdict: 'granted', scope: 'once' },
  'allow-always': { verdict: 'granted', scope: 'always' },
  deny: { verdict: 'denied' },
};
export interface ApprovalAnswer {
  readonly approvalId: string;
  readonly verdict: Verdict;
  readonly reason?: string | undefined;
  /** The session that asked. By default the approval is looked for among pending and recently answered ones. */
  readonly sessionKey?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}
/**
 * Sends a caller's answer to the session that asked, and returns its result. Throws `Refusal` with one of four codes. A session that the
 * caller may not see is answered like an approval that does not exist (A8/89).
 */
export const resolveApproval = async (context: GatewayContext, caller: Caller, given: ApprovalAnswer) => {
  const { verdict, reason, sessionKey, idempotencyKey } = given;
  const approvalId = given.approvalId.toLowerCase();
  // No session could read a command with a longer one, and none would answer.
  if (approvalId.length > limits.idCharacters) throw unknownApproval();
  const key = sessionKey === undefined ? await sessionOf(context, approvalId) : keyFrom(context.config, sessionKey);
  if (key === undefined || !(await context.access.seesApproval(caller.principal, key))) throw unknownApproval();
  const by = holderOf(caller, context.access.identities);
  const answer = { approvalId, ...meanings[verdict], ...(reason !== undefined && { reason }) };
  // Another approval, or another verdict, is no repeat, whatever key a client sends with it.
  const runId =
    idempotencyKey === undefined
      ? undefined
      : idempotentIdOf(caller, key, 'resolve_approval', `${approvalId} ${verdict} ${idempotencyKey}`);
  const result = await sendCommand(context, caller, key, { type: 'resolve_approval', ...answer, by }, { runId }).catch(
    (error: unknown) => {
      // An approver must not learn which sessions exist.
      throw error instanceof Refusal && error.code === 'approval_unknown' ? unknownApproval() : error;
    },
  );
  return { approvalId, sessionKey: key, verdict, ...result };
};
/** The index knows pending approvals, the feed those since this gateway started. For one requested just now, wait for the feed. */
const sessionOf = async (context: GatewayContext, approvalId: string): Promise<SessionKey | undefined> => {
  const { approvals, sessions } = context;
  const known = approvals.sessionOf(approvalId) ?? sessions.awaiting(approvalId);
  if (known !== undefined) return known;
  await catchUp(context);
  return approvals.sessionOf(approvalId);
};
/** How long the feed may take to catch up with the log. */
const catchUpMs = 1_000;
const catchUp = async ({ ports, feed }: GatewayContext): Promise<void> => {
  const { lastSeq } = await ports.events.info();
  if (feed.position >= lastSeq) return;
  const signal = AbortSignal.timeout(catchUpMs);
  for await (const { seq } of feed.follow({ after: lastSeq - 1, signal })) if (seq >= lastSeq) return;
};
/** The one answer for an approval that does not exist or is not visible to the caller (A8/89). */
export const unknownApproval = (): Refusal =>
  new Refusal(
    'approval_unknown',
    'there is no such approval, or it is not yours to see; list the pending ones, or name its session as well',
  );
