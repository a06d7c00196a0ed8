import { isOpen } from '../covered.ts';
import type { SessionEvent } from '../events.ts';
import { accept, type Decision, type Given, nothing, refuse, type SessionView } from './decision.ts';
import { checkpointRequests, noticeEvent } from './generation.ts';
import { isNew } from './opening.ts';

/** Checkpoints: when what was said is turned into memory, and the result (A7/80–84). */

/** Requested by a person, after a number of turns, or after a silence: once each for what was said since the last checkpoint. */
export const requestCheckpoint = ({ at, data: { why, notice } }: Given<'request_checkpoint'>, view: SessionView): Decision => {
  const { settings } = view.context;
  if (isNew(view)) {
    const text = 'There is nothing to checkpoint yet.';
    return notice
      ? accept(noticeEvent(settings, { ...notice, text }))
      : refuse('session_unknown', `${text} Send a message first.`);
  }
  const requests = isDue(view, why, at) ? checkpointRequests(view, why.reason, view.position.rev) : [];
  const text = requests.length === 0 ? 'Nothing was said since the last checkpoint.' : 'Checkpoint requested.';
  return accept(...requests, ...(notice ? [noticeEvent(settings, { ...notice, text })] : []));
};

const isDue = (
  { turn, context, position }: SessionView,
  why: Given<'request_checkpoint'>['data']['why'],
  at: number,
): boolean => {
  switch (why.reason) {
    case 'manual':
      return true;
    case 'turn_limit':
      return context.completedTurns - context.review.turns >= why.turns;
    case 'idle':
      return turn === null && at - position.interactedAt >= why.idleMs;
  }
};

/**
 * One commit with the covered range and its changes. A range that was covered or deleted in the meantime is not covered again.
 */
export const recordIntrospection = ({ data }: Given<'record_introspection'>, view: SessionView): Decision => {
  const { sessionId, reason, fromRev, toRev, toSeq, result } = data;
  const { covered, rev } = view.position;
  if (isNew(view) || toRev > rev || !isOpen(covered, data)) return nothing;
  const range = { sessionId, fromRev, toRev };
  if (result.kind === 'failed') {
    const { code, message } = result;
    return accept({ type: 'introspection_failed', v: 1, reason, ...range, toSeq, code, message });
  }
  const { kind: _, memory, ...recordedFields } = result;
  // A late introspection of an older range says nothing about the present state.
  const isLate = sessionId === view.context.sessionId && toRev < view.context.review.notedRev;
  const outcome = isLate ? { model: recordedFields.model, usage: recordedFields.usage } : recordedFields;
  const remembered: SessionEvent[] = memory ? [{ type: 'memory_changed', v: 1, ...memory, by: 'introspection', ...range }] : [];
  return accept({ type: 'introspected', v: 1, reason, ...range, toSeq, ...outcome }, ...remembered);
};

/** Recorded in the log of the session that the memory came from, whatever has become of that session. */
export const changeMemory = ({ data: { memory, by } }: Given<'change_memory'>, view: SessionView): Decision => {
  const { sessionId } = view.context;
  const toRev = Math.max(1, view.position.rev);
  const person = by.principal ?? by.id;
  return accept({ type: 'memory_changed', v: 1, ...memory, by: 'person', person, sessionId, fromRev: toRev, toRev });
};
