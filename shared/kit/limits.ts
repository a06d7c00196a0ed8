/** Every bound of the product in one place, unit last (I11). */
export const limits = {
  /** UTF-8 bytes of a session key. */
  sessionKeyBytes: 256,
  /** Characters of a command's id, which is its run's. */
  idCharacters: 128,
  /** Characters of a session id as it is asked for; with the number of its generation it is an id still. */
  sessionIdCharacters: 112,
  /** Bytes of one request body, one inbound envelope and one command. */
  commandBytes: 256 * 1024,
  /** Bytes of one commit. An instant turn's is the largest: the message, and the answer as a step and as a message. */
  commitBytes: 896 * 1024,
  /** UTF-8 bytes of what a model step may answer. */
  modelOutputBytes: 256 * 1024,
  /** Bytes a provider may send for one step, with all that it wraps around the answer, and of one line of it. */
  modelStreamBytes: 32 * 1024 * 1024,
  modelLineBytes: 1024 * 1024,
  /** Nesting of a decoded message, and its array elements plus map entries. */
  decodeDepth: 32,
  decodeItems: 20_000,
  /** Turns waiting behind the running one, per session. */
  queuedTurns: 100,
  /** Times a turn may be resumed without a newly recorded step before it fails. */
  turnResumes: 5,
  /** Times a turn may stand still past its deadline before it fails (B29). */
  turnStalls: 3,
  /** Calls of one model step, and how many of them run at a time. */
  stepCalls: 32,
  stepCallsAtOnce: 8,
  /** Characters of a call's id, of its tool's name and of its arguments. */
  callIdCharacters: 160,
  toolNameCharacters: 128,
  toolArgumentsCharacters: 128 * 1024,
  /** UTF-8 bytes of one page of a tool's output, and of all of it; what is longer is cut and says so. */
  toolPageBytes: 32 * 1024,
  toolOutputBytes: 512 * 1024,
  /** Tools of one session: as many as every provider takes. */
  offeredTools: 128,
  /** Names of one list of files. */
  listedFiles: 1_000,
  /** Bytes of what a program writes that are kept; milliseconds it may take to end, and its pipes to empty after it has. */
  programOutputBytes: 256 * 1024,
  programGraceMs: 2_000,
  programDrainMs: 500,
  /** Bytes of one page of the web, and times it may lead elsewhere. */
  webBytes: 256 * 1024,
  webRedirects: 5,
  /** Tools of one MCP server, characters of what it says a tool does, and UTF-8 bytes of the schema of its arguments. */
  mcpTools: 100,
  mcpDescriptionCharacters: 4_000,
  mcpSchemaBytes: 16 * 1024,
  /** Pages of an MCP server's list of tools, bytes of one of its messages, and its messages that nobody asked for in a minute. */
  mcpListPages: 20,
  mcpMessageBytes: 4 * 1024 * 1024,
  mcpNotifications: 2_000,
  /** Lines of an MCP server's error output that are logged in a minute, and their characters. */
  mcpLogLines: 100,
  mcpLogCharacters: 1_000,
  /** Milliseconds between two looks at an MCP server, and until one that was lost is begun again: the first time, and at most. */
  mcpCheckMs: 30_000,
  mcpRestartMs: 500,
  mcpRestartCapMs: 60_000,
  /** Milliseconds that a host gives MCP servers to start before it takes up turns that may be in the middle of one of their calls. */
  mcpHeadStartMs: 5_000,
  /** Milliseconds for a goodbye to an MCP server at an address. */
  mcpGoodbyeMs: 1_000,
  /** Commits of a session in which the pages of an output are looked for. */
  outputSearchCommits: 100_000,
  /** Outputs that a process remembers the place of. */
  outputPlaces: 1_000,
  /** Grants for good that one generation remembers, and answered approvals it can still name. */
  grants: 64,
  resolvedApprovals: 16,
  /** Spawned runs of one session that go on at a time, and how deep they may spawn others. */
  spawnedRuns: 8,
  spawnDepth: 3,
  /** Characters of a summary that stands for older messages, and of the conversation a model is given at most. */
  summaryCharacters: 32 * 1024,
  contextCharacters: 4 * 1024 * 1024,
  /** Characters of conversations a host keeps in memory. */
  cachedContextCharacters: 64 * 1024 * 1024,
  /** UTF-8 bytes of one file of the workspace in the system prompt, and of all of them. */
  promptFileBytes: 24 * 1024,
  promptFilesBytes: 96 * 1024,
  /** Parts of a system prompt. */
  promptParts: 200,
  /** Models, besides the configured one, that a host keeps ready for sessions that chose them. */
  models: 100,
  /** Model steps of one memory flush. */
  flushSteps: 8,
  /** Model steps of one turn. */
  turnSteps: 64,
  /** Characters of a session's description, of its working memory, and of one memory. */
  descriptionCharacters: 280,
  workingMemoryCharacters: 2_000,
  memoryCharacters: 4_000,
  /** Changes of the memory in one commit. */
  memoryChanges: 64,
  /** Memories of one scope, and their characters: of more the oldest goes. Changes of one that are known by their place in the log. */
  scopeMemories: 10_000,
  scopeMemoryCharacters: 4_000_000,
  memoryPlaces: 32,
  /** Characters and words of a query of the memory, and memories that are ranked. */
  memoryQueryCharacters: 1_000,
  memoryQueryWords: 16,
  memoryCandidates: 2_000,
  /** Characters of the transcript that a model is given at a time to look back on; what is longer is looked back on in slices. */
  introspectionCharacters: 256 * 1024,
  /** Characters of one message in it, and of what a tool is given or gives. */
  introspectionSaidCharacters: 16 * 1024,
  introspectionToolCharacters: 2_000,
  /** Memories that such a model is shown, and changes of them in its answer. */
  introspectionMemories: 50,
  introspectionChanges: 32,
  /** Answers it may give until one is right, tries if it gives none, requests that may fail until only a person's counts, and what they left. */
  introspectionAnswers: 3,
  introspectionAttempts: 6,
  introspectionTries: 3,
  introspectionGaps: 64,
  /** Skills that one session has. */
  sessionSkills: 150,
  /** Folders with skills in one place; files, bytes and depth of one skill, bytes of its `SKILL.md` and of the front matter in it. */
  skillFolders: 2_000,
  skillFiles: 1_000,
  skillBytes: 16 * 1024 * 1024,
  skillDepth: 12,
  skillFileBytes: 256 * 1024,
  skillFrontMatterBytes: 32 * 1024,
  /** Characters of a skill's description, and of all that a system prompt says of skills. */
  skillDescriptionCharacters: 2_000,
  skillsPromptCharacters: 32_000,
  /** Bytes of a file that is fetched for a skill, milliseconds in which nothing of it comes, and milliseconds of a package manager. */
  downloadBytes: 1024 * 1024 * 1024,
  downloadStallMs: 60_000,
  installMs: 900_000,
  /** Files, bytes and depth of an archive that is unpacked, characters of a path in it, and how many times its own size it may become. */
  archiveFiles: 20_000,
  archiveBytes: 2 * 1024 * 1024 * 1024,
  archiveDepth: 32,
  archivePathCharacters: 1_024,
  archiveRatio: 200,
  /** Bytes of an answer of a registry of skills that is no skill, and rows of one that is a list. */
  registryBytes: 1024 * 1024,
  registryRows: 50,
  /** Sets of skills that a host remembers for sessions that began with them. */
  skillSets: 100,
  /** Forks of forks between two compactions. */
  forkDepth: 16,
  /** Command and message ids a session remembers to refuse repeats. */
  recentIds: 64,
  /** Characters of what Natter itself says. */
  noticeCharacters: 16_384,
  /** Commits with messages a session remembers the position of: the reach of the model's context. */
  windowCommits: 64,
  /** Commands waiting in one session's mailbox. */
  mailboxCommands: 256,
  /** Sessions kept in memory by one host. */
  residentSessions: 20_000,
  /** Commits between two snapshots of a session. */
  snapshotCommits: 64,
  /** Messages of a work queue that are done and still stored before that is a problem. */
  doneMessages: 50_000,
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
  /** Commits that one call folds to tell of a session's past, and calls that do so at a time, in all and of one token. */
  replayCommits: 100_000,
  replays: 16,
  replaysEach: 4,
  readBytes: 4 * 1024 * 1024,
  /** Characters of running steps that a process keeps for readers of live text that come late. */
  liveCharacters: 16 * 1024 * 1024,
  /** Milliseconds a streaming client may leave a full buffer unread. */
  streamStallMs: 30_000,
  /** Requests that one connection may send before the first of them is answered. */
  pipelinedRequests: 32,
  /** Streams one gateway keeps open, and calls it lets wait for a run; and those of one token. */
  streamClients: 2_000,
  streamClientsEach: 500,
  waitingCalls: 10_000,
  waitingCallsEach: 2_500,
  /** WebSockets one gateway keeps open, and those of one token; calls of one of them at a time. */
  socketClients: 2_000,
  socketClientsEach: 500,
  socketCalls: 32,
  /** Recent commits, and characters of their texts, a gateway keeps to hand out to its streams without asking the log. */
  feedCommits: 1_000,
  feedCharacters: 8 * 1024 * 1024,
  /** Outbounds taken from the log and not yet in a final state, and the length of their texts. */
  deliveryWindow: 2_000,
  deliveryWindowCharacters: 32 * 1024 * 1024,
  /** Sends at a time through one outlet. */
  deliverySends: 32,
  /** Times a send is tried where its outlet does not say. */
  deliveryAttempts: 8,
  /** Conversations whose last custody record is remembered. */
  deliveryConversations: 10_000,
  /** Longest wait before a send is tried again, whatever the other side asks for. */
  deliveryBackoffMs: 60_000,
  deliveryRetryAfterMs: 300_000,
  /** Index rows kept in memory by the projection, and rows changed and not yet written before it stops reading. */
  indexCachedRows: 10_000,
  indexDirtyRows: 2_000,
  /** Transcripts the mirror remembers the end of; commits, and characters of their lines, that it gathers before it writes. */
  transcriptEnds: 10_000,
  mirrorCommits: 2_000,
  mirrorCharacters: 8 * 1024 * 1024,
  /** Access tokens of one installation, and sessions a gateway remembers the participants of for its streams. */
  accessTokens: 1_000,
  accessRows: 10_000,
  /** Tokens and addresses whose calls a gateway counts, and tickets that one token may ask for in a minute. */
  rateNames: 10_000,
  ticketsPerMinute: 600,
  /** Characters of what an audit record says besides its fields. */
  auditDetailCharacters: 1_000,
  /** Processes of one system that are told of. */
  processes: 1_000,
  /** Minutes that a rotated token's old secret may go on. */
  rotationOverlapMinutes: 10_080,
  /** Approvals a gateway remembers the session of. */
  askedApprovals: 10_000,
  /** Commits of a session up to which a run is looked for in all of its history. */
  runSearchCommits: 1_000,
  /** Rows of one page of any list. */
  pageRows: 1_000,
  /** Sessions of one list of the session tools, and last messages of each (A10/101). */
  toolRows: 200,
  toolRowMessages: 20,
  /** Characters of the messages in one answer of the session tools. */
  toolCharacters: 2 * 1024 * 1024,
  /** Events, and characters of them, in one answer to an MCP client that waits for events. */
  waitedEvents: 100,
  waitedEventsCharacters: 512 * 1024,
  /** Seconds one call may wait for a run. */
  waitSeconds: 120,
  /** Seconds a call of the OpenAI-compatible interface waits for its answer: as long as OpenAI's own clients do. */
  answerSeconds: 600,
  /** Models, tools, codes or channels that metrics tell apart by name; those that come later are `other`. */
  metricLabels: 100,
  /** Runs whose trace, and turns whose beginning, a host remembers. */
  tracedRuns: 10_000,
} as const;
