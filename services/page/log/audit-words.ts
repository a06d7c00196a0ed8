/** Kinds whose own words say too little to people. */
const plainer: Readonly<Partial<Record<string, string>>> = {
  token_rotated: 'token got a new secret',
  login_code_created: 'link to this page made',
  authentication_failed: 'sign-in failed',
  access_denied: 'not allowed',
  log_restored: 'log restored from a backup',
  pairing_approved: 'stranger let in',
  pairing_denied: 'stranger turned away',
  pairing_revoked: 'stranger shut out again',
  dead_letter_resent: 'dead letter sent again',
  message_cancelled: 'scheduled message cancelled',
  delivery_repeated: 'message sent again',
  delivery_left: 'message left unsent',
  delivery_resumed: 'channel tried again',
  config_reloaded: 'configuration changed',
  log_loss_accepted: 'loss in the log accepted',
  queue_loss_accepted: 'loss in a queue accepted',
};

/** What was done or tried, in words: `delivery_left` is "message left unsent". */
export const auditWords = (kind: string): string => plainer[kind] ?? kind.replaceAll('_', ' ');
