import type { Sender } from '../../../shared/domain/values/types.ts';

/** True for a stranger's turn: not the owner's, nor a program's that acts for the owner. A sender without a role is a stranger. */
export const isStranger = ({ role = 'participant' }: Pick<Sender, 'role'>): boolean => role === 'participant';

/** Marks a program that acts for a participant, so that it gets no more than a participant's rights (A5/62). */
export const onBehalfOf = ({ role }: Pick<Sender, 'role'>): Pick<Sender, 'onBehalfOf'> =>
  role === 'owner' || role === 'program' ? {} : { onBehalfOf: 'participant' };
