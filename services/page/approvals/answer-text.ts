import { decidedText } from '../parts/person.ts';
import type { Answered } from './answered.ts';
import { cutWords, type Ending } from './ending.ts';

const verdictWords = { granted: 'Allowed', denied: 'Denied', expired: 'Expired: nobody answered in time' } as const;

/** How a call was answered, by whom, and why, if that was said. */
export const answerText = ({ verdict, by, reason }: Pick<Answered, 'verdict' | 'by' | 'reason'>): string =>
  verdict === 'expired'
    ? verdictWords.expired
    : `${verdictWords[verdict]} ${decidedText(by)}${reason === undefined ? '' : `: “${reason}”`}`;

/** Of a question that ended without an answer. */
export const unansweredText = ({ by }: NonNullable<Ending['unanswered']>): string => `Not answered: ${cutWords[by]} first`;
