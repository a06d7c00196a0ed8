import { arrivalLimits } from './limits/arrival-limits.ts';
import { outgoingLimits } from './limits/outgoing-limits.ts';
import { programLimits } from './limits/program-limits.ts';

/** All bounds of the product, in one place, with the unit last (I11). */
export const limits = {
  /** Choices that a report names (B25). */
  namedChoices: 200,
  /** UTF-8 bytes of a session key. */
  sessionKeyBytes: 256,
  /** Characters of a command id, which is also its run's id. */
  idCharacters: 128,
  /** Characters of a requested session id. Shorter than an id, to leave room for the generation number. */
  sessionIdCharacters: 112,
  /** Bytes of one request body and of one command. */
  commandBytes: 256 * 1024,
  /** Bytes of one commit. The largest is that of an instant turn: the message, plus the answer as a step and as a message. */
  commitBytes: 896 * 1024,
  /** UTF-8 bytes of the output of one model step. */
  modelOutputBytes: 256 * 1024,
  /** Bytes that a provider may send for one step, including its framing, and bytes of one line. */
  modelStreamBytes: 32 * 1024 * 1024,
  modelLineBytes: 1024 * 1024,
  /** Nesting depth of a decoded message, and the total of its array elements and map entries. */
  decodeDepth: 32,
  decodeItems: 20_000,
  /** Turns waiting behind the running one, per session. */
  queuedTurns: 100,
  /** Times a turn may be resumed without a newly recorded step before it fails. */
  turnResumes: 5,
  /** Times a turn may stall past its deadline before it fails (B29). */
  turnStalls: 3,
  /** Tool calls of one model step, and how many of them run in parallel. */
  stepCalls: 32,
  stepCallsAtOnce: 8,
  /** Characters of a call's id, its tool's name and its arguments. */
  callIdCharacters: 160,
  toolNameCharacters: 128,
  toolArgumentsCharacters: 128 * 1024,
  /** UTF-8 bytes of one page of a tool's output, and of all its pages; longer output is cut with a note. */
  toolPageBytes: 32 * 1024,
  toolOutputBytes: 512 * 1024,
  /** Tools of one session: as many as every provider accepts. */
  offeredTools: 128,
  /** Names in one list of files. */
  listedFiles: 1_000,
  /** Bytes kept of a program's output; milliseconds it gets to exit, and milliseconds its pipes get to drain after that. */
  programOutputBytes: 256 * 1024,
  programGraceMs: 2_000,
  programDrainMs: 500,
  /** Bytes of one web page, and redirects that are followed. */
  webBytes: 256 * 1024,
  webRedirects: 5,
  /** Tools of one MCP server, characters of a tool's description, and UTF-8 bytes of its argument schema. */
  mcpTools: 100,
  mcpDescriptionCharacters: 4_000,
  mcpSchemaBytes: 16 * 1024,
  /** Pages of an MCP server's tool list, bytes of one of its messages, and its unsolicited messages per minute. */
  mcpListPages: 20,
  mcpMessageBytes: 4 * 1024 * 1024,
  mcpNotifications: 2_000,
  /** Lines of an MCP server's error output that are logged per minute, and characters of one. */
  mcpLogLines: 100,
  mcpLogCharacters: 1_000,
  /** Milliseconds between two health checks of an MCP server, and before a lost one is restarted: the first time, and at most. */
  mcpCheckMs: 30_000,
  mcpRestartMs: 500,
  mcpRestartCapMs: 60_000,
  /** Milliseconds a host gives MCP servers to start before it resumes turns, which may be in the middle of their calls. */
  mcpHeadStartMs: 5_000,
  /** Milliseconds to close the session with an MCP server over HTTP. */
  mcpGoodbyeMs: 1_000,
  /** Commits of a session that are searched for the pages of an output. */
  outputSearchCommits: 100_000,
  /** Outputs whose position a process remembers. */
  outputPlaces: 1_000,
  /** Permanent grants that one generation remembers, and resolved approvals it can still identify. */
  grants: 64,
  resolvedApprovals: 16,
  /** Spawned runs of one session at a time, and how deep they may spawn others. */
  spawnedRuns: 8,
  spawnDepth: 3,
  /** Characters of a summary of older messages, and of the whole conversation given to a model. */
  summaryCharacters: 32 * 1024,
  contextCharacters: 4 * 1024 * 1024,
  /** Characters of conversations that a host caches. */
  cachedContextCharacters: 64 * 1024 * 1024,
  /** UTF-8 bytes of one workspace file in the system prompt, and of all of them. */
  promptFileBytes: 24 * 1024,
  promptFilesBytes: 96 * 1024,
  /** Parts of a system prompt. */
  promptParts: 200,
  /** Models, besides the configured one, that a host keeps open for sessions that chose them. */
  models: 100,
  /** Model steps of one memory flush. */
  flushSteps: 8,
  /** Model steps of one turn. */
  turnSteps: 64,
  /** Characters of a session's description, of its working memory, and of one memory. */
  descriptionCharacters: 280,
  workingMemoryCharacters: 2_000,
  memoryCharacters: 4_000,
  /** Memory changes in one commit. */
  memoryChanges: 64,
  /** Memories of one scope and their characters; the oldest are dropped. Changes of one memory whose log position is kept. */
  scopeMemories: 10_000,
  scopeMemoryCharacters: 4_000_000,
  memoryPlaces: 32,
  /** Characters and words of a memory query, and memories that are ranked. */
  memoryQueryCharacters: 1_000,
  memoryQueryWords: 16,
  memoryCandidates: 2_000,
  /** Characters of the transcript in one introspection request; a longer transcript is introspected in slices. */
  introspectionCharacters: 256 * 1024,
  /** Characters of one message in it, and of a tool's arguments or result. */
  introspectionSaidCharacters: 16 * 1024,
  introspectionToolCharacters: 2_000,
  /** Memories shown to the introspection model, and changes in its answer. */
  introspectionMemories: 50,
  introspectionChanges: 32,
  /** Answers until one is valid; attempts without an answer; failed requests until only a person may ask again; gaps kept. */
  introspectionAnswers: 3,
  introspectionAttempts: 6,
  introspectionTries: 3,
  introspectionGaps: 64,
  /** Skills that one session has. */
  sessionSkills: 150,
  /** Skill folders in one place; files, bytes and depth of one skill; bytes of its `SKILL.md` and of its front matter. */
  skillFolders: 2_000,
  skillFiles: 1_000,
  skillBytes: 16 * 1024 * 1024,
  skillDepth: 12,
  skillFileBytes: 256 * 1024,
  skillFrontMatterBytes: 32 * 1024,
  /** Characters of a skill's description, and of the whole skills part of a system prompt. */
  skillDescriptionCharacters: 2_000,
  skillsPromptCharacters: 32_000,
  /** Bytes of a file downloaded for a skill, milliseconds a download may stall, and milliseconds a package manager may take. */
  downloadBytes: 1024 * 1024 * 1024,
  downloadStallMs: 60_000,
  installMs: 900_000,
  /** Files, bytes and depth of an unpacked archive, characters of a path in it, and its largest compression ratio. */
  archiveFiles: 20_000,
  archiveBytes: 2 * 1024 * 1024 * 1024,
  archiveDepth: 32,
  archivePathCharacters: 1_024,
  archiveRatio: 200,
  /** Bytes of a registry's answer other than a skill, and rows of a list. */
  registryBytes: 1024 * 1024,
  registryRows: 50,
  /** Skill sets that a host remembers for sessions that started with them. */
  skillSets: 100,
  /** Nested forks between two compactions. */
  forkDepth: 16,
  ...arrivalLimits,
  /** Characters of a notice, that is, of a text by Natter itself. */
  noticeCharacters: 16_384,
  /** Commands waiting in one session's mailbox. */
  mailboxCommands: 256,
  /** Sessions kept in memory by one host. */
  residentSessions: 20_000,
  /** Commits between two snapshots of a session. */
  snapshotCommits: 64,
  /** Completed messages still stored in a work queue before that is reported as a problem. */
  doneMessages: 50_000,
  /** Times a decision is repeated because another writer was first. */
  fencedRetries: 5,
  /** Participants listed in an index row. */
  participants: 200,
  /** Characters of the last message kept in an index row, and of the first one, for a name. */
  previewCharacters: 140,
  firstWordsCharacters: 60,
  /** Frames and bytes buffered for one streaming client before it is closed with its cursor. */
  streamFrames: 1_000,
  streamBytes: 1024 * 1024,
  /** Commits and bytes of one read of the log. */
  readCommits: 256,
  /** Commits of one read for a page of rows: with the one in front of the page, and the one that tells whether there are more. */
  pageCommits: 1_002,
  /** Commits that one call folds for a question about a session's past, and such calls at a time: in all, and per token. */
  replayCommits: 100_000,
  replays: 16,
  replaysEach: 4,
  readBytes: 4 * 1024 * 1024,
  /** Characters of running steps that a process keeps for late readers of live text. */
  liveCharacters: 16 * 1024 * 1024,
  /** Milliseconds that a streaming client may leave a full buffer unread. */
  streamStallMs: 30_000,
  /** Requests that one connection may send before the first of them is answered. */
  pipelinedRequests: 32,
  /** Open streams of one gateway, in all and per token; calls that wait for a run, in all and per token. */
  streamClients: 2_000,
  streamClientsEach: 500,
  waitingCalls: 10_000,
  waitingCallsEach: 2_500,
  /** Open WebSockets of one gateway, in all and per token; concurrent calls of one of them. */
  socketClients: 2_000,
  socketClientsEach: 500,
  socketCalls: 32,
  /** Recent commits, and characters of their texts, that a gateway keeps to serve its streams without reading the log. */
  feedCommits: 1_000,
  feedCharacters: 8 * 1024 * 1024,
  ...outgoingLimits,
  ...programLimits,
  /** Index rows that the projection caches, and changed rows not yet written before it stops reading. */
  indexCachedRows: 10_000,
  indexDirtyRows: 2_000,
  /** Transcripts whose end the mirror remembers; commits, and characters of their lines, that it collects before it writes. */
  transcriptEnds: 10_000,
  mirrorCommits: 2_000,
  mirrorCharacters: 8 * 1024 * 1024,
  /** Access tokens of one installation, and sessions whose participants a gateway remembers for its streams. */
  accessTokens: 1_000,
  accessRows: 10_000,
  /** Tokens and addresses whose calls a gateway counts, and tickets that one token may request per minute. */
  rateNames: 10_000,
  ticketsPerMinute: 600,
  /** Codes for the page that one token may request per minute, and wrong ones allowed from one address. */
  loginsPerMinute: 60,
  /** Characters of the free text in an audit record. */
  auditDetailCharacters: 1_000,
  /** Processes of one system that are listed. */
  processes: 1_000,
  /** Partitions of the commands; a report of who holds which names each of them. */
  partitions: 256,
  /** Minutes that the old secret of a rotated token may stay valid. */
  rotationOverlapMinutes: 10_080,
  /** Approvals whose session a gateway remembers. */
  askedApprovals: 10_000,
  /** Commits up to which the whole history of a session is searched for a run. */
  runSearchCommits: 1_000,
  /** Rows of one page of any list. */
  pageRows: 1_000,
  /** Sessions in one list of the session tools, and last messages of each (A10/101). */
  toolRows: 200,
  toolRowMessages: 20,
  /** Characters of the messages in one result of the session tools. */
  toolCharacters: 2 * 1024 * 1024,
  /** Events, and characters of them, in one answer to an MCP client that waits for events. */
  waitedEvents: 100,
  waitedEventsCharacters: 512 * 1024,
  /** Seconds one call may wait for a run. */
  waitSeconds: 120,
  /** Seconds that a call of the OpenAI-compatible interface waits for its answer: the default timeout of OpenAI's clients. */
  answerSeconds: 600,
  /** Distinct label values (models, tools, codes, channels) in metrics; later ones are counted as `other`. */
  metricLabels: 100,
  /** Runs whose trace, and turns whose start, a host remembers. */
  tracedRuns: 10_000,
} as const;
