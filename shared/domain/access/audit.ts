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
  'pairing_approved',
  'pairing_denied',
  'pairing_revoked',
  'dead_letter_resent',
  'dead_letter_discarded',
  'delivery_repeated',
  'delivery_left',
  'delivery_resumed',
  'history_repaired',
  'config_reloaded',
  'log_restored',
  'log_loss_accepted',
] as const;
export type AuditKind = (typeof auditKinds)[number];
