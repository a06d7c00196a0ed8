import type { Sender } from '../../../shared/domain/values/types.ts';

/** Marks a program that acts for a participant, so that it gets no more than a participant's rights (A5/62). */
export const onBehalfOf = ({ role }: Pick<Sender, 'role'>): Pick<Sender, 'onBehalfOf'> =>
  role === 'owner' || role === 'program' ? {} : { onBehalfOf: 'participant' };
