import type { Sender } from '../../../shared/domain/values/types.ts';

/** What a program that somebody sets to work says of them: it may do no more than a participant if that is what they are (A5/62). */
export const onBehalfOf = ({ role }: Pick<Sender, 'role'>): Pick<Sender, 'onBehalfOf'> =>
  role === 'owner' || role === 'program' ? {} : { onBehalfOf: 'participant' };
