import type { LogEntry, NatterEvent } from '../../../shared/client/main.ts';
import { typeWords } from '../parts/event-words.ts';

/** What led to an event and what came of it: the events of one run, which all have its id, in their order. */
export interface Stage {
  readonly event: NatterEvent;
  /** What it is in the run, in a word. */
  readonly words: string;
  /** Since the stage before it, ms. */
  readonly afterMs: number;
}

const wordsOf = (event: NatterEvent): string | null => {
  switch (event.type) {
    case 'user_message':
      return 'message';
    case 'turn_queued':
      return 'queued';
    case 'turn_started':
      return event.attempt > 1 ? `attempt ${event.attempt}` : 'started';
    case 'turn_resumed':
      return 'resumed';
    case 'model_step':
      return `step ${event.step}`;
    case 'tool_call_started':
      return event.tool;
    case 'tool_result':
      return `${event.tool}: ${event.outcome}`;
    case 'approval_requested':
      return 'asked';
    case 'approval_resolved':
      return event.verdict === 'granted' ? 'allowed' : event.verdict;
    case 'assistant_message':
      return 'answer';
    case 'notice':
      return 'notice';
    case 'turn_completed':
      return 'done';
    case 'turn_failed':
      return 'failed';
    case 'turn_aborted':
      return 'stopped';
    case 'delivery_reported':
      return `delivery ${event.outcome}`;
    case 'delivery_repeated':
      return 'sent again';
    default:
      return null;
  }
};

/** How long after a command was accepted its commit was recorded; `null`: it is not the commit of what somebody asked for. */
export const recordedMs = ({ at, recordedAt, correlationId, causationId }: LogEntry): number | null =>
  causationId === correlationId ? Math.max(0, recordedAt - at) : null;

/**
 * The stages of the run that an event belongs to. What a checkpoint did is recorded as caused by the event that requested it: the line goes on
 * from there. `events`: those of its session around it, in order; `firstMs`: how long after its command was accepted the first of them was
 * recorded.
 */
export const causeOf = (event: NatterEvent, events: readonly NatterEvent[], firstMs = 0): Stage[] => {
  const request = events.find(({ id }) => id === event.correlationId) ?? event;
  const isCaused = (one: NatterEvent): boolean => one.correlationId === request.id;
  const isOfRun = (one: NatterEvent): boolean => one.correlationId === request.correlationId;
  const sent = new Set(events.filter(isOfRun).map(({ id }) => id));
  const belongs = (one: NatterEvent): boolean =>
    isOfRun(one) || isCaused(one) || (one.type === 'delivery_reported' && sent.has(one.outboundId));
  const mustShow = (one: NatterEvent): boolean =>
    one.id === event.id || isCaused(one) || (one.id === request.id && events.some(isCaused));
  let last: number | null = null;
  return events.filter(belongs).flatMap((one) => {
    const words = wordsOf(one) ?? (mustShow(one) ? typeWords(one.type) : null);
    if (words === null) return [];
    const afterMs = last === null ? firstMs : Math.max(0, one.at - last);
    last = Math.max(last ?? one.at + firstMs, one.at);
    return [{ event: one, words, afterMs }];
  });
};

/** Whether an event may have sent something to a channel or to another session. */
const sends = (event: NatterEvent): boolean => {
  if (event.type === 'user_message') return false;
  if (event.type === 'notice') return event.notice.deliverTo !== undefined;
  return 'deliverTo' in event && event.deliverTo !== undefined && event.type !== 'delivery_reported';
};

/** The event of whose messages the delivery is told: this one, or else the last of its run that has sent something. */
export const sentBy = (event: NatterEvent, stages: readonly Stage[]): NatterEvent | undefined =>
  sends(event) ? event : stages.map((stage) => stage.event).findLast(sends);
