import type { EventType, SessionEvent } from './events.ts';

/**
 * The event type in a commit's subject, most interesting first: `natter.event.approval_requested.>` is a live feed of approvals.
 * Part of the public subject contract.
 */
const headlines: readonly EventType[] = [
  'approval_requested',
  'assistant_message',
  'turn_failed',
  'turn_aborted',
  'session_deleted',
  'history_damaged',
  'approval_resolved',
  'notice',
  'session_reset',
  'message_refused',
  'turn_started',
  'turn_resumed',
  'user_message',
  'runs_stopped',
  'context_compacted',
];

/** The headline of a commit with these events. */
export const headlineOf = (events: readonly SessionEvent[]): EventType => {
  const present = new Set(events.map(({ type }) => type));
  const headline = headlines.find((type) => present.has(type)) ?? events[0]?.type;
  if (headline === undefined) throw new RangeError('a commit has at least one event');
  return headline;
};
