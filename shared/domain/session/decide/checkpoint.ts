import { isOpen } from '../covered.ts';
import type { SessionEvent } from '../events.ts';
import { accept, type Decision, type Given, nothing, refuse, type SessionView } from './decision.ts';
import { isNew, lookingBack, telling } from './generation.ts';

/** Looking back: when what was said is turned into memory, and what comes of it (A7/80–84). */

/** Asked for by a person, after so many turns, or after a silence: each once for what was said since the last time. */
export const requestCheckpoint = ({ at, data: { why, notice } }: Given<'request_checkpoint'>, view: SessionView): Decision => {
  const { settings } = view.context;
  if (isNew(view)) {
    const text = 'There is nothing to look back on yet.';
    return notice ? accept(telling(settings, { ...notice, text })) : refuse('session_unknown', `${text} Send a message first.`);
  }
  const asked = isDue(view, why, at) ? lookingBack(view, why.reason, view.position.rev) : [];
  const text = asked.length === 0 ? 'Nothing was said since the last checkpoint.' : 'Looking back on what was said.';
  return accept(...asked, ...(notice ? [telling(settings, { ...notice, text })] : []));
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

/** One commit: what is covered, and what it changed. What was covered meanwhile, or deleted, is not covered again. */
export const recordIntrospection = ({ data }: Given<'record_introspection'>, view: SessionView): Decision => {
  const { sessionId, reason, fromRev, toRev, toSeq, result } = data;
  const { covered, rev } = view.position;
  if (isNew(view) || toRev > rev || !isOpen(covered, data)) return nothing;
  const range = { sessionId, fromRev, toRev };
  if (result.kind === 'failed') {
    const { code, message } = result;
    return accept({ type: 'introspection_failed', v: 1, reason, ...range, toSeq, code, message });
  }
  const { kind: _, memory, ...told } = result;
  // What was left out and is looked back on late says nothing of how things stand.
  const isLate = sessionId === view.context.sessionId && toRev < view.context.review.notedRev;
  const outcome = isLate ? { model: told.model, usage: told.usage } : told;
  const remembered: SessionEvent[] = memory ? [{ type: 'memory_changed', v: 1, ...memory, by: 'introspection', ...range }] : [];
  return accept({ type: 'introspected', v: 1, reason, ...range, toSeq, ...outcome }, ...remembered);
};

/** It is in the log of the session that the memory came from, whatever has become of that. */
export const changeMemory = ({ data: { memory, by } }: Given<'change_memory'>, view: SessionView): Decision => {
  const { sessionId } = view.context;
  const toRev = Math.max(1, view.position.rev);
  const person = by.principal ?? by.id;
  return accept({ type: 'memory_changed', v: 1, ...memory, by: 'person', person, sessionId, fromRev: toRev, toRev });
};
