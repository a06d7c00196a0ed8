/** What a token may be made for; a principal says how it is meant. */
export const roles = ['owner', 'participant', 'channel', 'approver', 'read-only', 'admin'] as const;
export type Role = (typeof roles)[number];
