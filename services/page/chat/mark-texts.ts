import type { NatterEvent } from '../../../shared/client/main.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import type { RewindReason } from '../../../shared/domain/values/expiry.ts';
import { askedOnPage, leaverWords } from '../parts/reset-words.ts';
import type { MarkItem } from './chat-model.ts';

/** What marks of a chat say. */

/** The reason that the page gives when it stops an answer. */
export const stopReason = 'stopped on the page';
/** The reason of a call that gives none. */
export const noReason = 'api';

/** Why an answer ended that what follows tells by itself. */
const rewinds: readonly RewindReason[] = ['another text', 'another answer'];
const untold: ReadonlySet<string> = new Set([...rewinds, askedOnPage]);
/** `isInSight`: the page still shows what there was of the answer. */
const notKept = (isInSight: boolean): string =>
  isInSight ? 'The unfinished answer above is not kept: it is gone after a reload.' : 'Only finished steps are kept.';

/** The reasons of a stop that somebody asked for, and nothing else. */
const asked: ReadonlySet<string> = new Set([stopReason, noReason]);

/**
 * The log has answers that were finished: what was on its way is gone, and that is said where it was. Of a stop that nothing else tells of, with
 * who asked for it.
 */
export const stoppedMark = (
  { reason, actor }: EventOf<'turn_aborted'> & Pick<NatterEvent, 'actor'>,
  isInSight: boolean,
): Pick<MarkItem, 'text' | 'by'> => {
  const rest = `. ${notKept(isInSight)}`;
  if (asked.has(reason)) return { text: 'Stopped', by: { actor, rest } };
  return { text: `Stopped${untold.has(reason) ? '' : `: ${reason}`}${rest}` };
};

/** The same in the words of the answer to `/stop`, which says what else has ended. */
export const stoppedWith = ({ text }: EventOf<'notice'>['notice'], isInSight: boolean): string => `${text} ${notKept(isInSight)}`;

export const deletedMark = (event: EventOf<'session_deleted'>): Pick<MarkItem, 'text' | 'isBeginning' | 'leaver'> => ({
  text: event.reason === noReason ? 'Deleted' : `Deleted: ${event.reason}`,
  ...{ isBeginning: true, leaver: leaverWords(event) },
});

/** Why there is no answer, and of which model if it was the model that failed. */
export const failedText = ({ code, message }: EventOf<'turn_failed'>, model: string | undefined): string =>
  `No answer${code.startsWith('model_') ? ` from ${model ?? 'the model'}` : ''}: ${message}`;

const undelivered: Readonly<Record<EventOf<'delivery_reported'>['outcome'], string>> = {
  partial: 'was partly delivered to',
  unknown: 'may not have reached',
  failed: 'was not delivered to',
};
/** What became of a message that was sent to a channel. Of one that arrives there is no event. */
export const undeliveredText = ({ outcome, kind, deliverTo, detail }: EventOf<'delivery_reported'>): string =>
  `${kind === 'assistant_message' ? 'The answer' : 'A message'} ${undelivered[outcome]} ${deliverTo.channel}: ${detail}`;
