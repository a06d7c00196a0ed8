import { decidedText } from '../parts/person.ts';
import type { Answered } from './answered.ts';

const verdictWords = { granted: 'Allowed', denied: 'Denied', expired: 'Expired: nobody answered in time' } as const;

/** How a call was answered, and by whom. */
export const answerText = ({ verdict, by }: Pick<Answered, 'verdict' | 'by'>): string =>
  verdict === 'expired' ? verdictWords.expired : `${verdictWords[verdict]} ${decidedText(by)}`;
