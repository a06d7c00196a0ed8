import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import type { ReasoningPart } from '../../../shared/domain/values/reasoning.ts';

/** The model that a session has after an event, as far as its events tell: the one it was given, else the one that answered last. */
export const modelAfter = (model: string | undefined, event: SessionEvent): string | undefined => {
  if (event.type === 'session_deleted' || event.type === 'history_damaged') return undefined;
  if (event.type === 'settings_changed' && event.changes.model !== undefined) return event.changes.model ?? undefined;
  return event.type === 'model_step' && !event.flush ? event.model : model;
};

/** The model of a session: the one that it was given, else the one that answered last; `null`: neither is known. */
export const modelText = (given: string | undefined, last: string | undefined): string | null => {
  const name = given ?? last;
  if (name === undefined) return null;
  return `model: ${name === 'offline' ? 'offline (built-in)' : name}${given === undefined ? '' : ', set by /model'}`;
};

/** What a model thought in a step; a part that its provider hides is named. Empty: nothing of it is recorded. */
export const reasoningText = (parts: readonly ReasoningPart[] = []): string =>
  parts
    .map(({ text, redacted }) => (text === '' && redacted !== undefined ? '(hidden by the provider)' : text.trim()))
    .filter((text) => text !== '')
    .join('\n\n');
