import { limits } from '../../../kit/limits.ts';
import { isGroupKey } from '../../keys/session-key.ts';
import type { ResetCause } from '../../values/expiry.ts';
import type { Sender } from '../../values/types.ts';
import type { SessionContext } from '../context.ts';
import type { SessionEvent } from '../events.ts';
import { accept, awaiting, type Decision, type Given, nothing, refuse, type SessionView } from './decision.ts';
import { abortEvents, clearing, noticeEvent, renewalEvents, stopOwnEvents, stopRunsEvents } from './generation.ts';
import { storeAndStartTurn } from './message.ts';
import { isNew, originEvents, participantEvents, readinessEvents, settingsEvents } from './opening.ts';

/** Stop, reset, fork, deactivate and delete (A4/53–57, A5/63, A8/87–88, A11/125, C9). */

const many = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Ends the running turn and clears the queue in one epoch step; a later message runs. */
export const stop = ({ data }: Given<'stop'>, view: SessionView): Decision => {
  const { by, reason, notice } = data;
  if (by !== undefined) return stopOwn(data, by, view);
  const { turn, context } = view;
  const events = [...abortEvents(view, reason), ...stopRunsEvents(context.spawned, reason)];
  if (notice === undefined) return accept(...events);
  const isIdle = turn === null && context.spawned.length === 0;
  const text = isIdle ? 'Nothing was running.' : stoppedText({ turn, queue: context.queue, spawned: context.spawned });
  return accept(...events, noticeEvent(context.settings, { ...notice, text }));
};

/** A person who may not stop everything stops what they themselves asked for, or learns why nothing was stopped (D7). */
const stopOwn = ({ reason, notice }: Given<'stop'>['data'], { principal }: Sender, view: SessionView): Decision => {
  const { events, ...stopped } = stopOwnEvents(view, principal, reason);
  const isBusy = view.turn !== null || view.context.spawned.length > 0;
  const others = 'only the owner may stop what others started';
  if (notice === undefined)
    return events.length === 0 && isBusy ? refuse('stop_forbidden', `${others}; ask them`) : accept(...events);
  const nothingStopped = isBusy ? `Nothing was stopped: ${others}.` : 'Nothing was running.';
  const text = events.length > 0 ? stoppedText(stopped) : nothingStopped;
  return accept(...events, noticeEvent(view.context.settings, { ...notice, text }));
};

/** Takes one message out of the queue; its turn never begins. */
export const cancelQueued = ({ data: { turnId, by } }: Given<'cancel_queued'>, { context }: SessionView): Decision => {
  const queued = context.queue.find(({ id }) => id === turnId);
  if (queued === undefined)
    return refuse('not_queued', 'runId: this message does not wait in the queue; its turn has begun or is over');
  if (by !== undefined && queued.askedBy !== by.principal)
    return refuse('stop_forbidden', 'only the owner may cancel what others asked for; ask them');
  return accept(...clearing([queued], 'cancelled'));
};

/** What was stopped (D6): the run, the sub-agent runs and the waiting messages. */
const stoppedText = ({ turn, queue, spawned }: Pick<SessionContext, 'turn' | 'queue' | 'spawned'>): string => {
  const run = turn === null ? [] : ['the answer'];
  const runs = [...run, ...(spawned.length === 0 ? [] : [many(spawned.length, 'sub-agent run')])];
  const cleared = many(queue.length, 'waiting message');
  if (runs.length === 0) return `Cleared ${cleared}.`;
  if (queue.length === 0) return `Stopped ${runs.join(' and ')}.`;
  return `Stopped ${runs.join(' and ')}${runs.length > 1 ? ',' : ''} and cleared ${cleared}.`;
};

/**
 * One commit ends the old generation, requests a checkpoint and starts the new generation, with its first message if there is one
 * (C10).
 */
export const reset = ({ id, at, data }: Given<'reset'>, view: SessionView): Decision => {
  const { sessionId, cause, origin, settings, notice, message, by, expiry: _, ...occasion } = data;
  if (isNew(view) && message === undefined) {
    return refuse('session_unknown', 'there is nothing to reset yet; send a message first');
  }
  const opening: SessionEvent[] = isNew(view)
    ? readinessEvents(view, { ...occasion, sessionId, origin }, at)
    : [...renewalEvents(view, sessionId, { ...cause, lastUpdateAt: view.position.interactedAt }), ...originEvents(view, origin)];
  return accept(
    ...opening,
    ...settingsEvents(view, settings),
    ...participantEvents(by),
    ...(notice ? [noticeEvent(view.context.settings, notice)] : []),
    ...(message ? storeAndStartTurn(id, message, view) : []),
  );
};

/**
 * A new generation that continues from an earlier point. The running turn and the queue end, new messages belong to another
 * branch, and the history stays (B21).
 */
export const fork = ({ data }: Given<'fork'>, view: SessionView): Decision => {
  const { sessionId, from, by, ifDeletedGeneration, reason = `from sequence ${from.seq}` } = data;
  if (isNew(view)) return refuse('session_unknown', 'there is nothing to fork yet; send a message first');
  const { rev, seq } = view.position;
  if (from.rev > rev || from.seq > seq)
    return refuse('fork_invalid', `the session has no rev ${from.rev} at sequence ${from.seq}`);
  if (ifDeletedGeneration !== undefined && ifDeletedGeneration !== view.context.deletedGeneration)
    return refuse('fork_invalid', 'that part of the session has been deleted in the meantime; name a later point');
  if (from.skips.length >= limits.forkDepth) {
    return refuse('fork_invalid', `after ${limits.forkDepth} nested forks the conversation must be compacted first`);
  }
  const cause: ResetCause = { trigger: 'fork', rule: reason, lastUpdateAt: view.position.interactedAt };
  const events = renewalEvents(view, sessionId, cause).map(
    (event): SessionEvent => (event.type === 'session_reset' ? { ...event, forkedFrom: from } : event),
  );
  return accept(...events, ...participantEvents(by));
};

export const deactivate = ({ data }: Given<'deactivate_session'>, view: SessionView): Decision => {
  switch (view.status) {
    case 'inactive':
      return nothing;
    case 'idle':
      return accept({ type: 'session_deactivated', v: 1, reason: data.reason });
    case 'running':
    case 'awaiting_approval':
    case 'awaiting_results':
      return refuse('session_busy', 'a turn is running; stop it first or wait for it to end');
  }
};

/** The history stays; from now on the session counts as gone. An erasure is recorded even for an empty session. */
export const deleteSession = ({ key, data: { mode, reason } }: Given<'delete_session'>, view: SessionView): Decision => {
  const { sessionId, generation, epoch, queue } = view.context;
  if (mode !== 'erased' && isNew(view)) return refuse('session_unknown', 'there is no such session');
  if (mode === 'session' && isGroupKey(key)) {
    return refuse(
      'session_retained',
      'the history of a group belongs to everyone in it and is kept; the operator can delete the key',
    );
  }
  if (mode === 'session' && view.turn !== null) {
    return refuse('session_busy', 'a turn is running; stop it first or wait for it to end');
  }
  const turnIds = [...(view.turn ? [view.turn.id, ...(view.turn.merged ?? [])] : []), ...queue.map(({ id }) => id)];
  const deleted: SessionEvent = {
    ...{ type: 'session_deleted', v: 1, mode, sessionId, generation, epoch: epoch + 1, turnIds, reason },
    ...awaiting(view.turn),
  };
  // An erased history starts with the erasure itself (C9).
  return mode === 'erased'
    ? accept(deleted, ...stopRunsEvents(view.context.spawned, reason))
    : accept(...stopRunsEvents(view.context.spawned, reason), deleted);
};
