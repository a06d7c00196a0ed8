import { counted } from '../../kit/text/counted.ts';
import { fieldWords } from '../../kit/text/field-words.ts';
import { messageText } from '../prompt/sub-agent-message.ts';
import type { EventOf, SessionEvent } from '../session/events.ts';
import { attachedText } from '../values/attachment.ts';
import type { ResetCause } from '../values/expiry.ts';
import { decidedBy } from '../values/person-words.ts';
import { restartWords } from './rewind-words.ts';

/** Puts text from outside on one line of at most so many characters. */
export type Shorten = (text: string, width: number) => string;

const width = 100;

const routeText = (event: EventOf<'route_changed' | 'delivery_reported' | 'delivery_repeated'>, oneLine: Shorten): string => {
  const to = `${event.deliverTo.channel} ${oneLine(event.deliverTo.to, 60)}`;
  if (event.type === 'route_changed') return to;
  if (event.type === 'delivery_repeated') return `by ${event.by} to ${to}: ${oneLine(event.text, width)}`;
  return `${event.outcome}, to ${to}: ${oneLine(event.detail, width)}`;
};

const triggerWords: Readonly<Record<ResetCause['trigger'], string>> = {
  daily: 'by the daily rule',
  idle: 'after being idle',
  isolated: 'as each message starts anew',
  command: 'by a chat command',
  fork: 'as a fork',
  api: 'by request',
};

/** What was set, and what follows the configuration again. */
const settingsText = (changes: EventOf<'settings_changed'>['changes'], oneLine: Shorten): string =>
  Object.entries(changes)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${fieldWords(name)}: ${value === null ? 'as configured' : oneLine(settingText(value), width)}`)
    .join(', ');
const settingText = (value: unknown): string => {
  if (value === true) return 'yes';
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return value.join(', ');
  return Object.entries(value)
    .map(([name, each]) => `${name} ${each === null ? 'removed' : String(each)}`)
    .join(', ');
};

/** Why a generation began: by its cause, with the limit that was passed, or from which commit as a fork. */
const whyReset = ({ cause, reason, forkedFrom }: EventOf<'session_reset'>, oneLine: Shorten): string => {
  if (forkedFrom) return `from commit ${forkedFrom.rev}`;
  if (cause === undefined) return oneLine(reason, width);
  const { trigger, rule, boundaryAt, lastUpdateAt } = cause;
  const restart = trigger === 'api' ? restartWords(rule) : null;
  if (restart !== null) return restart;
  if (trigger !== 'idle' || boundaryAt === undefined || lastUpdateAt === undefined)
    return `${triggerWords[trigger]}: ${oneLine(rule, width)}`;
  return `idle for over ${Math.round((boundaryAt - lastUpdateAt) / 60_000)} min: ${oneLine(rule, width)}`;
};

/** Whether one message was taken back, and not all dropped that waited. */
export const isTakenBack = ({ turnIds, reason }: EventOf<'queue_cleared'>): boolean =>
  reason === 'cancelled' && turnIds.length === 1;

const saidText = ({ message }: EventOf<'user_message'>, oneLine: Shorten): string => {
  const { sender, attachments } = message;
  const text = `${oneLine(messageText(message), width)} ${oneLine(attachedText(attachments), width)}`.trim();
  return `${sender.name ?? sender.id}: ${text}`;
};

/** An event in a few words, for lists of events on a terminal and on the page. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one table of all events
export const summaryOf = (event: SessionEvent, oneLine: Shorten): string => {
  switch (event.type) {
    case 'user_message':
      return saidText(event, oneLine);
    case 'assistant_message':
    case 'message_edited':
      return oneLine(event.text, width);
    case 'model_step':
      return `step ${event.step}, ${event.usage.totalTokens} tokens: ${oneLine(event.text, width)}`;
    case 'turn_failed':
      return `${event.code}: ${oneLine(event.message, width)}`;
    case 'message_refused':
      return event.code;
    case 'turn_queued':
      return `number ${event.position} in the queue`;
    case 'turn_started':
      return event.attempt > 1 ? `attempt ${event.attempt}` : '';
    case 'turn_resumed':
      return `attempt ${event.turn.attempt}, from step ${event.step}`;
    case 'client_results_awaited':
      return `of ${event.calls.join(', ')}`;
    case 'client_results_received':
      return `by ${event.by}, attempt ${event.turn.attempt}`;
    case 'approval_requested':
      return oneLine(event.action, width);
    case 'approval_resolved':
      return `${event.verdict} ${decidedBy(event.by)}`;
    case 'session_opened':
      return event.generation > 1 ? 'again' : '';
    case 'session_reset':
      return whyReset(event, oneLine);
    case 'queue_cleared':
      return isTakenBack(event) ? 'message taken back' : event.reason;
    case 'turn_aborted':
    case 'session_deactivated':
    case 'session_deleted':
      return event.reason;
    case 'history_damaged':
      return `commits ${event.fromRev} to ${event.toRev} ${event.damage}: ${event.reason}`;
    case 'notice':
      return oneLine(event.notice.text, width);
    case 'participant_resolved':
      return `${event.participant.principal ?? event.participant.id} (${event.participant.role ?? 'participant'})`;
    case 'origin_changed':
      return oneLine(event.origin.label ?? event.origin.displayName ?? event.origin.from ?? '', width);
    case 'route_changed':
    case 'delivery_reported':
    case 'delivery_repeated':
      return routeText(event, oneLine);
    case 'settings_changed':
      return settingsText(event.changes, oneLine);
    case 'checkpoint_requested':
      return `${event.reason}, commits ${event.fromRev} to ${event.toRev}`;
    case 'introspected':
      return `${event.reason}, commits ${event.fromRev} to ${event.toRev}: ${oneLine(event.description ?? '', width)}`.trimEnd();
    case 'introspection_failed':
      return `${event.reason}, commits ${event.fromRev} to ${event.toRev}, ${event.code}: ${oneLine(event.message, width)}`;
    case 'memory_changed':
      return event.changes.map((change) => `${change.op} ${oneLine('text' in change ? change.text : change.id, 60)}`).join('; ');
    case 'skills_changed':
      return counted(event.skills.length, 'skill');
    case 'turn_joined':
      return 'a message joined the answer under way';
    case 'prompt_changed':
      return `system prompt of ${counted(event.parts.length, 'part')}`;
    case 'tool_call_started':
      return `${event.tool}${event.callAttempt > 1 ? `, attempt ${event.callAttempt}` : ''}`;
    case 'tool_result':
      return `${event.tool} ${event.outcome}: ${oneLine(event.text, width)}`;
    case 'tool_output':
      return `page ${event.page}`;
    case 'context_compacted':
      return `${event.tokensBefore} tokens became ${event.tokensAfter}`;
    case 'runs_stopped':
      return `${counted(event.runs.length, 'spawned run')}: ${event.reason}`;
    case 'turn_completed':
    case 'message_withdrawn':
    case 'session_reopened':
      return '';
  }
};
