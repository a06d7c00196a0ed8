/** The roles of tokens; a `Principal` says what each may do. */
export const roles = ['owner', 'participant', 'channel', 'approver', 'read-only', 'admin', 'viewer'] as const;
export type Role = (typeof roles)[number];
