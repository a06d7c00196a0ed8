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

/** What stands in a record for programs, and what people call it. */
const plainFacts: readonly (readonly [RegExp, string])[] = [
  [/^approvalId: /, 'approval '],
  [/, verdict: granted\b/, ', allowed'],
  [/, verdict: denied\b/, ', denied'],
  [/, scope: once\b/, ' once'],
  [/, scope: always\b/, ' from now on'],
  [/^commit: (\d+)/, 'from commit $1'],
  [/^mode: (?:key|session)(?:, )?/, ''],
  [/\breason: another text$/, 'a message was edited'],
  [/\breason: another answer$/, 'an answer was tried again'],
];

/** What else is known of it, in words. */
export const auditFactWords = (detail: string): string =>
  plainFacts.reduce((words, [fact, plain]) => words.replace(fact, plain), detail);
