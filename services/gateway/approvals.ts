import { LRUCache } from 'lru-cache';
import { shownKey } from '../../shared/domain/keys/legacy-key.ts';
import { parseKey, type SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../shared/domain/projections/summary.ts';
import type { CommandOf } from '../../shared/domain/session/commands.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import { limits } from '../../shared/kit/limits.ts';
import { keyFrom } from '../../shared/runtime/session-tools/named-session.ts';
import { ask } from './asking.ts';
import { type Asker, onceIdOf } from './commands.ts';
import type { GatewayContext } from './context.ts';
import { Refusal } from './problem.ts';
import { holderOf } from './speaker.ts';

/** Approvals at the door (A5/62): which are pending, and a person's answer to one of them. */

/** Which session asked for which approval lately: answered ones too, so that whoever is late is told who was first. */
export class AskedApprovals {
  readonly #sessions = new LRUCache<string, SessionKey>({ max: limits.askedApprovals });

  take({ key, events }: RecordedCommit): void {
    for (const event of events) {
      const isAsked = event.type === 'approval_requested' || event.type === 'approval_resolved';
      if (isAsked) this.#sessions.set(event.approvalId, key);
    }
  }

  sessionOf(approvalId: string): SessionKey | undefined {
    return this.#sessions.get(approvalId);
  }
}

/** One that waits for its answer, as lists show it. */
const shown = ({ agent, session }: GatewayContext['config'], { key, approval }: IndexRow): readonly object[] => {
  if (approval === null) return [];
  const { approvalId, tool, action, asks = 'run', requestedAt, expiresAt, approvers = [], onceOnly = false } = approval;
  const sessionKey = parseKey(key).kind === 'global' ? shownKey(key, session.mainKey, agent.id) : key;
  return [{ approvalId, sessionKey, ...(tool && { tool }), action, asks, requestedAt, expiresAt, approvers, onceOnly }];
};

/** The pending approvals of the sessions that the caller may see or answer for, newest first. */
export const listApprovals = (
  { sessions, access, config }: GatewayContext,
  { principal }: Asker,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
) => {
  const { rows, nextCursor } = sessions.list({
    ...{ limit, cursor },
    status: 'awaiting_approval',
    withGlobal: config.session.scope === 'global',
    reach: access.approvalReach(principal),
  });
  return { approvals: rows.flatMap((row) => shown(config, row)), nextCursor };
};

/** What people answer. */
export const verdicts = ['allow-once', 'allow-always', 'deny'] as const;
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
  /** The session that asked. Without it the approval is looked for among those that wait and those that were answered lately. */
  readonly sessionKey?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/**
 * Gives a caller's answer to the session that asked, and says what became of it. Throws `Refusal` with one of four codes; of a session that
 * is not the caller's to see they hear what they would hear of an approval that does not exist (A8/89).
 */
export const resolveApproval = async (context: GatewayContext, asker: Asker, given: ApprovalAnswer) => {
  const { verdict, reason, sessionKey, idempotencyKey } = given;
  const approvalId = given.approvalId.toLowerCase();
  const key = sessionKey === undefined ? await sessionOf(context, approvalId) : keyFrom(context.config, sessionKey);
  if (key === undefined || !(await context.access.seesApproval(asker.principal, key))) throw unknownApproval();
  const by = holderOf(asker, context.access.identities);
  const answer = { approvalId, ...meanings[verdict], ...(reason !== undefined && { reason }) };
  const runId = idempotencyKey === undefined ? undefined : onceIdOf(asker, key, 'resolve_approval', idempotencyKey);
  const asked = await ask(context, asker, key, { type: 'resolve_approval', ...answer, by }, { runId }).catch((error: unknown) => {
    // An approver is not to learn which sessions there are.
    throw error instanceof Refusal && error.code === 'approval_unknown' ? unknownApproval() : error;
  });
  return { approvalId, sessionKey: key, verdict, ...asked };
};

/** The index says who waits, the feed who has asked since this gateway began. What was asked this moment is waited for. */
const sessionOf = async (context: GatewayContext, approvalId: string): Promise<SessionKey | undefined> => {
  const { approvals, sessions } = context;
  const known = approvals.sessionOf(approvalId) ?? sessions.awaiting(approvalId);
  if (known !== undefined) return known;
  await catchUp(context);
  return approvals.sessionOf(approvalId);
};

/** How long the feed may take to see what is recorded. */
const catchUpMs = 1_000;
const catchUp = async ({ ports, feed }: GatewayContext): Promise<void> => {
  const { lastSeq } = await ports.events.info();
  if (feed.position >= lastSeq) return;
  const signal = AbortSignal.timeout(catchUpMs);
  for await (const { seq } of feed.follow({ after: lastSeq - 1, signal })) if (seq >= lastSeq) return;
};

/** The one answer for an approval that is not there, or not the caller's to see (A8/89). */
export const unknownApproval = (): Refusal =>
  new Refusal(
    'approval_unknown',
    'there is no such approval, or it is not yours to see; list the pending ones, or name its session with "sessionKey"',
  );
