import { isTakenBack, summaryOf } from '../../../shared/domain/projections/event-summary.ts';
import { forkVerb } from '../../../shared/domain/projections/rewind-words.ts';
import { reasonOf } from '../../../shared/domain/prompt/model-failure.ts';
import type { EventOf, SessionEvent } from '../../../shared/domain/session/events.ts';
import { oneLine, plainLine } from './one-line.ts';

/** Events in words for people who have not read the glossary. */

/** Types whose own words say too little to people. */
const plainer: Readonly<Record<string, string>> = {
  turn_queued: 'message queued',
  turn_started: 'answer started',
  turn_resumed: 'answer resumed',
  turn_joined: 'message joined',
  turn_completed: 'answer completed',
  turn_failed: 'answer failed',
  turn_aborted: 'answer stopped',
  approval_resolved: 'approval answered',
  session_deactivated: 'session archived',
  session_reopened: 'session restored',
  introspected: 'checkpoint done',
  introspection_failed: 'checkpoint failed',
};

/** The type of an event as words: `tool_result` is "tool result". */
export const typeWords = (type: string): string => plainer[type] ?? type.replaceAll('_', ' ');

/** An event as words. A reset that goes on from an earlier moment is a fork, perhaps for an edit. */
export const eventWords = (event: SessionEvent): string => {
  if (event.type === 'queue_cleared' && isTakenBack(event)) return 'message taken back';
  return event.type === 'session_reset' && event.forkedFrom !== undefined
    ? forkVerb(event.cause?.rule).toLowerCase()
    : typeWords(event.type);
};

const explained: Partial<Readonly<Record<SessionEvent['type'], string>>> = {
  checkpoint_requested: 'At a checkpoint a model reads what was said since the last one, and keeps notes and memories.',
  introspected: 'A model has read what was said, and noted what was worth keeping, if anything was.',
  introspection_failed: 'A model was to read what was said, and to keep notes and memories.',
  context_compacted: 'For the model a summary stands in place of the older part of the conversation.',
  prompt_changed: 'These are the standing instructions that the model gets from now on.',
  model_step: 'The model was asked once, and this is what it gave.',
  delivery_reported: 'A message that was sent did not arrive, or may not have. One that arrives leaves no event.',
  history_damaged: 'Commits of this session are lost or changed in the store; natter repair tells what can be done.',
};

/** What an event means, where its name is a term; `null`: its words say it. */
export const meaningOf = ({ type }: SessionEvent): string | null => explained[type] ?? null;

const reasons: Readonly<Record<EventOf<'checkpoint_requested'>['reason'], string>> = {
  manual: 'asked for',
  new_session: 'before a reset or a fork',
  turn_limit: 'after many answers',
  idle: 'after a silence',
};

/** `beside`: the events of its commit, where they are known: they tell a reset from a fork. */
const checkpointText = (
  { reason, fromRev, toRev }: EventOf<'checkpoint_requested' | 'introspected' | 'introspection_failed'>,
  beside: readonly SessionEvent[] = [],
): string => {
  const reset = beside.find((event) => event.type === 'session_reset');
  const isKnown = reason === 'new_session' && reset !== undefined;
  const words = isKnown ? `before the ${reset.forkedFrom ? 'fork' : 'reset'}` : reasons[reason];
  return `${words}, of commits ${fromRev} to ${toRev}`;
};

const width = 100;

/** Why a model did not answer: in plain words where the code is known, and in its provider's own. */
export const failureText = (failed: { readonly code: string; readonly message: string }): string =>
  [reasonOf(failed), oneLine(failed.message, width)].filter((words) => words !== null && words !== '').join(': ');

/** An event in a few words, without the names of codes. `beside`: the events of its commit, where they are known. */
export const plainSummary = (event: SessionEvent, beside?: readonly SessionEvent[]): string => {
  switch (event.type) {
    case 'assistant_message':
    case 'message_edited':
    case 'model_step':
      return summaryOf(event, plainLine);
    case 'turn_failed':
      return failureText(event);
    case 'message_refused':
      return typeWords(event.code);
    case 'queue_cleared':
      return isTakenBack(event) ? '' : event.reason;
    case 'checkpoint_requested':
      return checkpointText(event, beside);
    case 'introspected':
      return [checkpointText(event), ...(event.description ? [plainLine(event.description, width)] : [])].join(': ');
    case 'introspection_failed':
      return `${checkpointText(event)}: ${failureText(event)}`;
    default:
      return summaryOf(event, oneLine);
  }
};
