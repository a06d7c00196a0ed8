import { limits } from '../../../kit/limits.ts';
import { type ResetCause, staleness } from '../../values/expiry.ts';
import type { CheckpointReason } from '../../values/memory-edit.ts';
import type { Settings } from '../../values/settings.ts';
import { deliveryTarget, type Notice, type SpawnedRun } from '../../values/types.ts';
import type { CommandOf } from '../commands.ts';
import type { ActiveTurn, SessionContext } from '../context.ts';
import type { Gap } from '../covered.ts';
import type { EventOf, SessionEvent } from '../events.ts';
import type { QueuedTurn } from '../queued-turn.ts';
import { awaiting, refOf, type SessionView } from './decision.ts';
import { begunApprovedCall } from './deferred-call.ts';

/** How generations of a session follow each other and end (A4/43–58, C8, C10). */

/** The events that end the running turn and clear the queue. */
export const abortEvents = (view: SessionView, reason: string): SessionEvent[] =>
  view.turn === null ? [] : [...clearing(view.context.queue, reason), aborting(view.turn, reason)];

export const clearing = (queue: readonly QueuedTurn[], reason: string): SessionEvent[] =>
  queue.length === 0 ? [] : [{ type: 'queue_cleared', v: 1, turnIds: queue.map(({ id }) => id), reason }];

const aborting = (turn: ActiveTurn, reason: string): SessionEvent => ({
  ...{ type: 'turn_aborted', v: 1, turn: refOf(turn), reason },
  ...awaiting(turn),
});

/** The running turn ends and the next one starts. */
export const abandonEvents = (view: SessionView, reason: string): SessionEvent[] =>
  view.turn === null ? [] : [aborting(view.turn, reason), ...nextTurn(view)];

/** What one person asked for ends; what others asked for goes on (D7). */
export const stopOwnEvents = (
  view: SessionView,
  person: string | undefined,
  reason: string,
): { readonly events: SessionEvent[] } & Pick<SessionContext, 'turn' | 'queue' | 'spawned'> => {
  const { context } = view;
  const isOwn = ({ askedBy }: Pick<QueuedTurn, 'askedBy'>): boolean => askedBy !== undefined && askedBy === person;
  const turn = view.turn !== null && isOwn(view.turn) ? view.turn : null;
  const [queue, spawned] = [context.queue.filter(isOwn), context.spawned.filter(isOwn)];
  const ended = [...clearing(queue, reason), ...(turn ? [aborting(turn, reason)] : []), ...stopRunsEvents(spawned, reason)];
  const rest = { ...view, context: { ...context, queue: context.queue.filter((queued) => !isOwn(queued)) } };
  return { events: [...ended, ...(turn ? nextTurn(rest) : [])], turn, queue, spawned };
};

/** Runs that this session spawned end (A11/125). */
export const stopRunsEvents = (runs: readonly SpawnedRun[], reason: string): SessionEvent[] =>
  runs.length === 0 ? [] : [{ type: 'runs_stopped', v: 1, runs: [...runs], reason }];

/** Makes the session id differ from the previous one: sources with a fixed id, such as `cli:work`, are numbered (C8). */
export const freshId = (sessionId: string, { context: { sessionId: last, generation } }: SessionView): string =>
  last === sessionId || last === `${sessionId}#${generation}` ? `${sessionId}#${generation + 1}` : sessionId;

/**
 * The checkpoint requests up to `toRev`: for what was said in this generation since the last one, and for the failed ranges of
 * any generation. Failed ranges are retried automatically a limited number of times, then only for a person (A7/80).
 */
export const checkpointRequests = (
  { context: { messages, sessionId, review }, position: { covered, startedRev, startedSeq } }: SessionView,
  reason: CheckpointReason,
  toRev: number,
): SessionEvent[] => {
  const asked = (range: Pick<Gap, 'sessionId' | 'fromRev' | 'toRev' | 'afterSeq'>): SessionEvent => ({
    ...{ type: 'checkpoint_requested', v: 1, reason },
    ...{ sessionId: range.sessionId, fromRev: range.fromRev, toRev: range.toRev, afterSeq: range.afterSeq },
  });
  const mayTry = ({ tries }: Gap): boolean => reason === 'manual' || tries < limits.introspectionTries;
  const failed = covered.gaps.filter((gap) => !gap.asked && mayTry(gap)).map(asked);
  if (messages <= review.messages) return failed;
  const begins = covered.rev < startedRev;
  const fromRev = begins ? startedRev : covered.rev + 1;
  const afterSeq = begins ? startedSeq - 1 : covered.seq;
  return [...failed, asked({ sessionId, fromRev, toRev, afterSeq })];
};

const resetting = (view: SessionView, sessionId: string, cause: ResetCause): EventOf<'session_reset'> => ({
  type: 'session_reset',
  v: 1,
  previousSessionId: view.context.sessionId,
  sessionId: freshId(sessionId, view),
  generation: view.context.generation + 1,
  reason: cause.trigger,
  cause,
});

/**
 * Ends the old generation, requests a checkpoint if anything was said in it, and starts the new one (C10). If the queue is not
 * empty while no turn runs, an interruption has just ended the turn before it: the queue is kept.
 */
export const renewalEvents = (view: SessionView, sessionId: string, cause: ResetCause): SessionEvent[] => [
  ...abortEvents(view, cause.rule),
  ...checkpointRequests(view, 'new_session', view.position.rev),
  { ...resetting(view, sessionId, cause), ...(view.turn === null && view.context.queue.length > 0 && { keepsQueue: true }) },
];

/** When a turn ends, the next queued turn starts (A5/70), in a generation of its own if its message found the session stale. */
export const nextTurn = (view: SessionView): SessionEvent[] => {
  const [next] = view.context.queue;
  if (next === undefined) return [];
  const { renews, collect: _, ...turn } = next;
  const others = collected(view.context.queue);
  const merged = others.map(({ id, messageId }) => ({ id, messageId }));
  const asked = others.every(({ askedBy }) => askedBy === turn.askedBy) ? turn : withoutAsker(turn);
  const started: SessionEvent = { type: 'turn_started', v: 1, turn: asked, attempt: 1, ...(merged.length > 0 && { merged }) };
  const begun = [started, ...begunApprovedCall(next)];
  if (renews === undefined) return begun;
  const { sessionId, cause } = renews;
  // The checkpoint includes this very commit, in which the last turn ends.
  return [
    ...checkpointRequests(view, 'new_session', view.position.rev + 1),
    { ...resetting(view, sessionId, cause), keepsQueue: true },
    ...begun,
  ];
};

/** A turn that several people asked for is none of theirs to stop. */
const withoutAsker = ({ askedBy: _, ...turn }: QueuedTurn): QueuedTurn => turn;

/** The queued turns that are answered together with the first: up to the first that may not be (B6). */
const collected = ([first, ...others]: readonly QueuedTurn[]): readonly QueuedTurn[] => {
  if (!first?.collect) return [];
  const end = others.findIndex((turn) => !turn.collect || turn.renews || !isSamePlace(first, turn));
  return end === -1 ? others : others.slice(0, end);
};

type Answered = Pick<QueuedTurn, 'deliverTo'>;

/** True when both are answered at the same place. */
export const isSamePlace = ({ deliverTo: one }: Answered, { deliverTo: other }: Answered): boolean =>
  deliveryTarget.keyof().options.every((name) => one?.[name] === other?.[name]);

/** Records that a queued message found the session stale. The reset waits for its turn, so that the running one is not reset. */
export const renewal = (
  { position }: SessionView,
  { sessionId, expiry }: Pick<CommandOf<'open_session'>, 'sessionId' | 'expiry'>,
  at: number,
): Pick<QueuedTurn, 'renews'> => {
  const cause = expiry ? staleness(expiry, position.interactedAt, at) : null;
  return cause === null ? {} : { renews: { sessionId, cause } };
};

/** A notice by Natter itself, with the session's send policy at this moment (A9/96). */
export const noticeEvent = ({ sendPolicy }: Settings, notice: Notice): SessionEvent => ({
  type: 'notice',
  v: 1,
  notice,
  ...(sendPolicy && { sendPolicy }),
});
