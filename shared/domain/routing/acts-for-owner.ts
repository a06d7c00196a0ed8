import type { Sender } from '../values/types.ts';

/** True for the owner, and for programs of the installation, which act for the owner; a sender without a role is a stranger (D7). */
export const actsForOwner = ({ role, onBehalfOf }: Sender): boolean =>
  (role === 'owner' || role === 'program') && onBehalfOf === undefined;
