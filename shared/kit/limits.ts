/** Every bound of the product in one place, unit last (rule 10 of the style guide, I11). */
export const limits = {
  /** UTF-8 bytes of a session key. */
  sessionKeyBytes: 256,
  /** Bytes of one request body, one inbound envelope and one command. */
  commandBytes: 256 * 1024,
  /** Bytes of one commit: a command's text plus what the decision adds to it. */
  commitBytes: 768 * 1024,
  /** UTF-8 bytes of what a model step may answer. */
  modelOutputBytes: 256 * 1024,
  /** Nesting of a decoded message. */
  decodeDepth: 32,
  /** Array elements plus map entries of a decoded message. */
  decodeItems: 20_000,
  /** Turns waiting behind the running one, per session. */
  queuedTurns: 100,
  /** Times a turn may be resumed without a newly recorded step before it fails. */
  turnResumes: 5,
  /** Model steps of one turn. */
  turnSteps: 64,
  /** Command and message ids a session remembers to refuse repeats. */
  recentIds: 64,
  /** Commits with messages a session remembers the position of: the reach of the model's context. */
  windowCommits: 64,
  /** Commands waiting in one session's mailbox. */
  mailboxCommands: 256,
  /** Sessions kept in memory by one host. */
  residentSessions: 20_000,
  /** Commits between two snapshots of a session. */
  snapshotCommits: 64,
  /** Times a decision is taken again because somebody else wrote first. */
  fencedRetries: 5,
  /** Participants listed in an index row. */
  participants: 200,
  /** Characters of the last message kept in an index row. */
  previewCharacters: 140,
  /** Frames and bytes buffered for one streaming client before it is closed with its cursor. */
  streamFrames: 1_000,
  streamBytes: 1024 * 1024,
  /** Commits and bytes of one read of the log. */
  readCommits: 256,
  readBytes: 4 * 1024 * 1024,
  /** Rows of one page of any list. */
  pageRows: 1_000,
  /** Seconds one call may wait for a run. */
  waitSeconds: 120,
} as const;
