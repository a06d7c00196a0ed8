/** Bounds of what arrives, and of what a session remembers of it (D9, I11); a part of `limits`. */
export const arrivalLimits = {
  /** Bytes of one inbound envelope: what routing adds to it still fits into a command. */
  inboundBytes: 240 * 1024,
  /** Characters of who sends a command: a channel and its own id of the sender. */
  actorCharacters: 256,
  /** Command and message ids a session remembers in full, and digests of older ones, in strings of so many (D9). */
  recentIds: 64,
  olderIds: 16_384,
  olderIdsEach: 1_024,
  /** Order numbers of one source that a session remembers, and sources (D9). */
  orderWindow: 64,
  orderSources: 64,
  /** Last messages of a session that can still be edited or withdrawn, and attachments of one message. */
  revisableMessages: 64,
  attachments: 32,
  /** Files that a model is given with one request, bytes of all of them, and bytes of one that is a text. */
  requestFiles: 20,
  requestFileBytes: 20 * 1024 * 1024,
  textFileBytes: 128 * 1024,
  /** Bytes of bodies with files that one gateway has in memory, and those of one caller. */
  uploadBytes: 512 * 1024 * 1024,
  uploadBytesEach: 256 * 1024 * 1024,
  /** Bytes of attachments that a session host keeps at hand, and how long. */
  cachedFileBytes: 64 * 1024 * 1024,
  cachedFileMs: 600_000,
  /** Calls whose clients count their attempts, and how long a retry is told from a new call. */
  askedCalls: 16,
  askedCallMs: 3_600_000,
  /** Questions of a session that no turn waits for, each of another person (ADR 22). */
  openQuestions: 4,
  /** How long a message counts as new to a person who has not seen it, and how long it is kept how far they have read. */
  unreadMs: 30 * 86_400_000,
  /** Commits with messages whose position a session remembers: the reach of the model's context. */
  windowCommits: 64,
} as const;
