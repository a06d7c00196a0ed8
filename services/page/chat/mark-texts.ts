import type { EventOf } from '../../../shared/domain/session/events.ts';

/** What marks of a chat say. */

/** The reason that the page gives when it stops an answer. */
export const stopReason = 'stopped on the page';

/** The log has answers that were finished: what was on its way is gone, and that is said where it was. */
export const stoppedText = ({ reason }: EventOf<'turn_aborted'>): string =>
  `Stopped${reason === stopReason ? '' : `: ${reason}`}. What was not finished is not kept.`;
