import { limits } from '../../../kit/limits.ts';
import type { EventOf, SessionEvent } from '../events.ts';
import {
  accept,
  type BusyView,
  type Decision,
  type Given,
  isCurrent,
  nothing,
  refOf,
  refuse,
  type SessionView,
} from './decision.ts';
import { noticeEvent } from './generation.ts';
import { isNew } from './opening.ts';
import { completing } from './turn.ts';

/** Compaction: a summary replaces older messages in the conversation; the events stay (A11/126). */

/** Requested by a person: a turn of its own, queued behind a running one. */
export const compact = ({ id, data: { type: _, ...asked } }: Given<'compact'>, view: SessionView): Decision => {
  if (isNew(view) || view.context.messages === 0) {
    const text = 'There is nothing to compact yet.';
    return asked.notice ? accept(noticeEvent(view.context.settings, { ...asked.notice, text })) : refuse('session_unknown', text);
  }
  const turn = {
    id,
    messageId: id,
    task: { kind: 'compact' as const, ...asked },
    ...(asked.notice?.deliverTo && { deliverTo: asked.notice.deliverTo }),
  };
  if (view.turn !== null) {
    const position = view.context.queue.length + 1;
    if (position <= limits.queuedTurns) return accept({ type: 'turn_queued', v: 1, turn, position });
    const text = 'Too many messages are waiting in this session; try again later.';
    return asked.notice ? accept(noticeEvent(view.context.settings, { ...asked.notice, text })) : refuse('session_busy', text);
  }
  const reopened: SessionEvent[] = view.status === 'inactive' ? [{ type: 'session_reopened', v: 1 }] : [];
  return accept(...reopened, { type: 'turn_started', v: 1, turn, attempt: 1 });
};

/** A turn that exists for the compaction ends with it; any other continues. */
export const recordCompaction = ({ data: { turn: ref, result } }: Given<'record_compaction'>, view: SessionView): Decision => {
  if (view.status !== 'running' || !isCurrent(view, ref)) return nothing;
  const done = result.kind === 'compacted' ? [compacted(view, result)] : [];
  return accept(...done, ...(view.turn.task ? concluding(view, result) : []));
};

type Result = Given<'record_compaction'>['data']['result'];

const compacted = ({ turn }: BusyView, { kind: _, ...result }: Result & { kind: 'compacted' }): EventOf<'context_compacted'> => ({
  type: 'context_compacted',
  v: 1,
  turn: refOf(turn),
  ...result,
  ...(turn.task?.instructions !== undefined && { instructions: turn.task.instructions }),
});

const concluding = (view: BusyView, result: Result): SessionEvent[] => {
  const notice = view.turn.task?.notice;
  const text =
    result.kind === 'compacted'
      ? `Compacted: about ${result.tokensBefore} tokens of context became ${result.tokensAfter}.`
      : `Nothing was compacted: ${result.reason}.`;
  return [...(notice ? [noticeEvent(view.context.settings, { ...notice, text })] : []), ...completing(view)];
};
