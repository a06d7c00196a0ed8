import { isProviderFault } from '../../../shared/domain/prompt/model-failure.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import type { ChatItem, MarkItem, SaidItem } from './chat-model.ts';

/** The answer that failed last: where a chat says so, and the message that it was to answer. */
export interface Failed {
  readonly mark: MarkItem;
  readonly message: SaidItem;
}

const unreachable = 'try again; if it fails again, check the address in model.providers, and that the server runs';
/** What to do about a failure, by its code, with the setting that it is about. */
const steps: Readonly<Record<string, string>> = {
  model_auth: 'check the key in model.providers of the configuration, and that the account may use this model',
  model_unknown: 'choose a model that it offers: agent.model in the configuration, or /model in the chat',
  model_rate_limited: 'wait a little and try again, or raise the limit of the account',
  model_unavailable: unreachable,
  model_timeout: unreachable,
};

/** What to do about a failed answer, in one line; `null`: there is nothing that helps every time. */
export const failureAdvice = (event: Pick<EventOf<'turn_failed'>, 'code' | 'message'>): string | null => {
  const step = isProviderFault(event) ? 'the fault is on the provider’s side: try again' : steps[event.code];
  return step === undefined ? null : `→ ${step}`;
};

/** What to do about a failure, and of which turn it is. */
export const failureDetails = (event: EventOf<'turn_failed'>) => ({ advice: failureAdvice(event), failedTurnId: event.turn.id });

/** Whether this page may send a message again: what another person has said would be said by the page, and its answer would not reach them. What a deleted session said has no place to go on from. */
export const isRepeatable = ({ role, sender, leftBy, isGone }: SaidItem): boolean =>
  role === 'user' && sender?.role !== 'participant' && leftBy === undefined && isGone !== true;

/** The answer that failed last, if nothing was said since; `null`: there is none. */
export const lastFailure = (items: readonly ChatItem[]): Failed | null => {
  // Marks say what happened beside the conversation, except those of a failure and of a new beginning.
  const mark = items.findLast(
    (item) => item.leftBy === undefined && (item.kind !== 'mark' || item.failedTurnId !== undefined || item.isBeginning === true),
  );
  if (mark?.kind !== 'mark' || mark.failedTurnId === undefined) return null;
  const message = items.findLast((item) => item.kind === 'said' && item.role === 'user' && item.turnId === mark.failedTurnId);
  return message?.kind === 'said' ? { mark, message } : null;
};
