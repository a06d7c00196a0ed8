import { nextStep } from '../../../shared/domain/prompt/model-failure.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import type { ChatItem, MarkItem, SaidItem } from './chat-model.ts';

/** The answer that failed last: where a chat says so, and the message that it was to answer. */
export interface Failed {
  readonly mark: MarkItem;
  readonly message: SaidItem;
}

/** What to do about a failure, and of which turn it is. */
export const failureDetails = (event: EventOf<'turn_failed'>) => ({ advice: nextStep(event), failedTurnId: event.turn.id });

/** Whether this page may send a message again: what another person has said would be said by the page, and its answer would not reach them. */
export const isRepeatable = ({ role, sender, isLeft }: SaidItem): boolean =>
  role === 'user' && sender?.role !== 'participant' && isLeft !== true;

/** The answer that failed last, if nothing was said since and its message can be sent again; `null`: there is none. */
export const repeatableFailure = (items: readonly ChatItem[]): Failed | null => {
  // Marks say what happened beside the conversation, except those of a failure and of a new beginning.
  const mark = items.findLast(
    (item) => item.isLeft !== true && (item.kind !== 'mark' || item.failedTurnId !== undefined || item.isBeginning === true),
  );
  if (mark?.kind !== 'mark' || mark.failedTurnId === undefined) return null;
  const message = items.findLast((item) => item.kind === 'said' && item.turnId === mark.failedTurnId && isRepeatable(item));
  return message?.kind === 'said' ? { mark, message } : null;
};
