/** The kinds of audit records (docs/operate/access.md). A kind never changes its meaning, and is part of the record's subject. */
export const auditKinds = [
  'token_created',
  'token_rotated',
  'token_revoked',
  'authentication_failed',
  'access_denied',
  'approval_answered',
  'session_deleted',
  'session_erased',
  'config_reloaded',
  'log_restored',
] as const;
export type AuditKind = (typeof auditKinds)[number];
