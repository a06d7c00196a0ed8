import type { Role } from './policy/access.ts';
import type { AuditKind } from './policy/audit.ts';
import type { SessionKey } from './routing/session-key.ts';
import type { EventOf, EventType } from './session/events.ts';
import type { PlainState } from './session/evolve.ts';
import type { MemoryEdit } from './session/memory.ts';
import type { IndexRow } from './session/summary.ts';
import type { DeliveryTarget, Sender, SpawnedRun, StepOutcome, ToolCall, ToolOutcome, TurnRef } from './session/types.ts';
import type { Skill } from './skills/skill.ts';
import type {
  CheckpointRequest,
  CommandAnswer,
  CommandEnvelope,
  Commit,
  InboundEnvelope,
  RecordedCommit,
} from './wire/envelope.ts';

/**
 * The outside world on one screen. Each port has an in-memory and a NATS adapter and one contract suite that both pass. Unless said
 * otherwise a method rejects with `NatterError('unavailable')` when the broker does not answer in time: the outcome is then unknown.
 */

export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Milliseconds that never go back: for leases and timeouts. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

// ------------------------------------------------------------------------------------------------ the event log

/** The outcome of one attempt to append. `unknown`: a conflict, a time-out or no leader; only a leader read can tell (§5, fencing). */
export type AppendResult =
  | { readonly kind: 'stored'; readonly seq: number }
  | { readonly kind: 'unknown'; readonly cause: string }
  | { readonly kind: 'refused'; readonly message: string };

/** State of the whole log. `incarnation` changes when the stream is created anew. */
export interface LogInfo {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly incarnation: number;
}

export interface FollowOptions {
  /** Delivers commits with a greater sequence. */
  readonly after: number;
  /** Only this key. */
  readonly key?: SessionKey;
  /** Only commits filed under one of these headlines. */
  readonly headlines?: readonly EventType[];
  readonly signal: AbortSignal;
  /** Least milliseconds between two reads: trades latency for work under load. Default 0. */
  readonly pauseMs?: number;
}

export interface EventLog {
  /** Appends one commit if `expectedSeq` is still the key's last sequence (0: no commit yet). Never rejects. */
  append(commit: Commit, expectedSeq: number): Promise<AppendResult>;
  /** The key's last commit, read from the leader: never stale. */
  last(key: SessionKey): Promise<RecordedCommit | null>;
  /** The key's commits with `after < seq <= upTo`, oldest first. May lag behind the leader. */
  read(key: SessionKey, options?: { after?: number; upTo?: number }): AsyncIterable<RecordedCommit>;
  /** All commits of all keys after a sequence, oldest first, up to `limit`, and whether more follow. */
  page(options: { after: number; limit: number; key?: SessionKey }): Promise<{ commits: RecordedCommit[]; more: boolean }>;
  /** History from a sequence on and then live, without a gap, for ever (until the signal aborts). Survives broker outages. */
  follow(options: FollowOptions): AsyncIterable<RecordedCommit>;
  info(): Promise<LogInfo>;
}

// ------------------------------------------------------------------------------------------------ work queues

/** One message out for work. `seq` grows per key; `incarnation` changes when the queue's stream is created anew. */
export interface Delivery<T> {
  readonly message: T;
  readonly seq: number;
  readonly incarnation: number;
  readonly partition: number;
  /** 1 for the first delivery. */
  readonly attempt: number;
  /** The header of this name, of whoever published it. */
  readonly traceparent?: string | undefined;
}

/**
 * What became of a delivery. `recorded`: done, and what is recorded shows it for ever, so that the same delivery again does nothing; the
 * queue may keep it a while, and may give it out again when the broker has forgotten how far it was (ADR 9). `done`: nothing shows it, so
 * it leaves the queue before it is acknowledged. `retry`: the partition waits and gets the same message again; nothing newer overtakes it.
 */
export type Verdict =
  | { readonly kind: 'recorded' }
  | { readonly kind: 'done' }
  | { readonly kind: 'retry' }
  | { readonly kind: 'dead'; readonly reason: string };

export interface ConsumeOptions<T> {
  /** This process's member name, unique. */
  readonly member: string;
  /** Called for one message of a partition at a time. A throw counts as `retry`. */
  handle(delivery: Delivery<T>): Promise<Verdict>;
  /** The partition is now ours. */
  acquired?(partition: number): void;
  /** The partition is no longer ours, or may not be: forget what you know of its keys, at once. */
  lost?(partition: number): void;
}

export interface Consumption {
  /** Partitions held now. */
  owned(): readonly number[];
  /** Why the consumer is not working as it should; empty when all is well. */
  problems(): readonly string[];
  /** Stops taking messages, waits for those in hand (at most `drainMs`), and hands the partitions over. */
  close(drainMs?: number): Promise<void>;
}

/** At least once, ordered per key, shared out by partition among the members that consume (§5). */
export interface WorkQueue<T> {
  /** Durable once it resolves. The same id again within two minutes is stored once (`duplicate`). */
  publish(message: T): Promise<{ seq: number; duplicate: boolean }>;
  /** Publishes at a later time; the same key and name again replaces it (a timer is a delayed command). Not earlier than `at`, up to 1 s later. */
  schedule(name: string, at: number, message: T): Promise<void>;
  /** Takes back a scheduled message that is not due yet. */
  cancel(key: string, name: string): Promise<void>;
  consume(options: ConsumeOptions<T>): Promise<Consumption>;
  /** The partition a key belongs to. */
  partitionOf(key: string): number;
  /** Messages not yet taken and done: the queue's lag. */
  lag(): Promise<number>;
}

export type CommandBus = WorkQueue<CommandEnvelope>;

/** Outcomes of commands, told once over an ephemeral subject to whoever asked (§5). Losing one loses nothing: the log is the truth. */
export interface Answers {
  /** Subject to put into `answerTo`. */
  readonly address: string;
  /** Call before publishing the command. Resolves with `null` when no answer came in time. */
  wait(commandId: string, timeoutMs: number): Promise<CommandAnswer | null>;
  tell(answerTo: string, answer: CommandAnswer): void;
}

// ------------------------------------------------------------------------------------------------ caches and projections

/** A cached fold of one session. Any doubt about it means: replay (I4). */
export interface Snapshots {
  /** The newest snapshot that passes its checks (schema, checksum, key), else `null`. */
  get(key: SessionKey): Promise<PlainState | null>;
  put(key: SessionKey, state: PlainState): Promise<void>;
}

/** The session index: one row per key, a projection of the log (A11: "a map sessionKey → { sessionId, updatedAt, … }"). */
export interface SessionIndex {
  get(key: SessionKey): Promise<IndexRow | null>;
  /** Writes rows and then the position they reflect. A row never goes back to an older `seq`. */
  put(rows: readonly IndexRow[], position: number): Promise<void>;
  /** Sequence up to which the index reflects the log; 0 if it is empty. */
  position(): Promise<number>;
  /** Keeps a copy of all rows in memory until closed: current within a second, within three when a thousand sessions change every second. */
  watch(marks?: Partial<RowMarks>): Promise<IndexView>;
}
/** What a reader's filters go by; asked once for each row that comes. */
export interface RowMarks {
  /** Rows that are alike to the filters have one facet, a short text, and there should be few of them. */
  facetOf(row: IndexRow): string;
  /** Names of what the row belongs to, of which there may be many. */
  groupsOf(row: IndexRow): readonly string[];
}
export interface IndexView {
  get(key: SessionKey): IndexRow | undefined;
  rows(): Iterable<IndexRow>;
  /** The rows updated last first; the key decides between equals. Read it at one stretch. */
  newestFirst(filter?: RowFilter): Iterable<IndexRow>;
  close(): Promise<void>;
}

/** Where a row stands among those updated before and after it. */
export type RowPlace = Pick<IndexRow, 'updatedAt' | 'key'>;
export interface RowFilter {
  /** Begins after this place. */
  readonly after?: RowPlace | undefined;
  /** Which facets are wanted, asked once for each. Default: all. */
  readonly facet?: (facet: string) => boolean;
  /** Only rows that belong to one of these. Default: all. */
  readonly groups?: readonly string[] | undefined;
}

/**
 * One thing that is remembered (A7/82). `id` is `<seq>-<number>` of the commit that added it, `scope` as `scopeName` writes it. `source` is the
 * last change: the answer to "why do you believe this".
 */
export interface MemoryEntry {
  readonly id: string;
  readonly scope: string;
  readonly text: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly source: {
    readonly key: SessionKey;
    readonly sessionId: string;
    /** Of the commit. */
    readonly seq: number;
    readonly fromRev: number;
    readonly toRev: number;
    readonly by: EventOf<'memory_changed'>['by'];
    readonly person?: string | undefined;
    readonly callId?: string | undefined;
  };
  /** The commits that have changed it, oldest first: the first and the latest ones. */
  readonly changes: readonly { readonly key: SessionKey; readonly seq: number }[];
}
/** The long-term memory: a projection of the log's `memory_changed`. What is gone never comes back under its id. */
export interface MemoryStore {
  /** `null`: there is none, or it is gone. */
  get(id: string): Promise<MemoryEntry | null>;
  /** Writes what has changed and then the position it reflects. An entry never goes back to an older change. */
  put(change: MemoryNews, position: number): Promise<void>;
  /** Sequence up to which it reflects the log; 0 if it is empty. */
  position(): Promise<number>;
  /** Has the log read from its beginning once more: whoever writes is refused, and begins anew. */
  reset(): Promise<void>;
  /** Keeps a searchable copy in memory until closed: current within a second. */
  watch(): Promise<MemoryView>;
}
export interface MemoryNews {
  readonly entries: readonly MemoryEntry[];
  /** Ids. */
  readonly gone: readonly string[];
}
/** Where a memory stands among others. */
export interface MemoryMark {
  readonly id: string;
  readonly source: { readonly seq: number };
}
/** `all` is for those from whom nothing is hidden. */
export type MemoryScopes = readonly string[] | 'all';
export interface MemoryView {
  get(id: string): MemoryEntry | undefined;
  /** Changed last first. Begins after an entry, if one is named. */
  list(options: { scopes: MemoryScopes; limit: number; after?: MemoryMark | undefined }): MemoryEntry[];
  /** The best first; of equally good ones the newest. A query is words, whatever stands in it. */
  search(options: { scopes: MemoryScopes; query: string; limit: number }): MemoryEntry[];
  /** Ids of all that is gone for good. */
  gone(): readonly string[];
  /** Sequence up to which it reflects the log. */
  position(): number;
  close(): Promise<void>;
}

/** How far a reader of the log has come, by name: `delivery`, … */
export interface Cursors {
  get(name: string): Promise<number>;
  put(name: string, seq: number): Promise<void>;
}

/** A role only one process has at a time. For economy, never for safety (idea 5). */
export interface Leases {
  /** Waits until the lease is ours, calls `work`, renews it meanwhile and aborts the signal when it is lost. Returns when `signal` aborts. */
  hold(name: string, member: string, signal: AbortSignal, work: (held: AbortSignal) => Promise<void>): Promise<void>;
}

// ------------------------------------------------------------------------------------------------ ephemera, deliveries, dead letters

/** A piece of an answer in the making: no fact, lost on purpose (§3). `offset` is in characters from the start of the step's text. */
export interface Delta {
  readonly turn: TurnRef;
  readonly step: number;
  readonly offset: number;
  readonly text: string;
}
export interface Live {
  /** Tells whoever listens, and keeps the text of the step until its next one, for those who come later. */
  publish(key: SessionKey, delta: Delta): void;
  /** The attempt writes no more of its step: who comes now finds it in the log. */
  ended(key: SessionKey, turn: TurnRef): void;
  /** The running step's text from its beginning, whenever one comes, and what follows: no gap, nothing twice. A new attempt begins anew. */
  subscribe(key: SessionKey, signal: AbortSignal): AsyncIterable<Delta>;
}

/**
 * One message on its way out. `id` is `<stream seq>.<index>` of the event, with a third number where one event has several: the idempotency
 * key of the send (I9).
 */
export interface Outbound {
  readonly id: string;
  readonly seq: number;
  readonly key: SessionKey;
  readonly target: DeliveryTarget;
  /** `stop`, for channel `session` alone: the run there is to end. */
  readonly kind: 'assistant_message' | 'notice' | 'stop';
  readonly text: string;
  readonly turnId: string;
  /** Of the commit that has it. */
  readonly traceparent?: string;
  /** Why it is not sent: there is nothing to say (A6/78), or the rule that denies it (A9/98). Recorded as `suppressed`. */
  readonly withheld?: string;
}
export type CustodyState = 'prepared' | 'sending' | 'delivered' | 'unknown' | 'suppressed' | 'failed';
export interface CustodyRecord {
  readonly v: 1;
  readonly outboundId: string;
  readonly outboundSeq: number;
  readonly key: SessionKey;
  readonly target: DeliveryTarget;
  readonly state: CustodyState;
  readonly attempt: number;
  readonly at: number;
  /** The member that wrote it: two at work must not take each other's records for their own. */
  readonly by?: string;
  readonly detail?: string;
}
/** The custody log: who had which outbound when. One writer per conversation, fenced by the conversation's last sequence (I9). */
export interface CustodyLog {
  last(target: DeliveryTarget): Promise<{ record: CustodyRecord; seq: number } | null>;
  /** Resolves with the new sequence, or `null` when somebody else wrote first. */
  append(record: CustodyRecord, expectedSeq: number): Promise<number | null>;
}

export type SendResult =
  | { readonly kind: 'sent'; readonly detail?: string }
  | { readonly kind: 'retry'; readonly afterMs: number; readonly detail: string }
  | { readonly kind: 'failed'; readonly detail: string }
  /** The other side may or may not have it. */
  | { readonly kind: 'unknown'; readonly detail: string };

/** A way out: the terminal, a webhook, later each channel. */
export interface Outlet {
  readonly channel: string;
  /** True when the other side recognises `Outbound.id` again: an unknown send may then be repeated. */
  readonly idempotent: boolean;
  /** Times a send is tried before it is given up. Default `limits.deliveryAttempts`. */
  readonly attempts?: number;
  send(outbound: Outbound, signal: AbortSignal): Promise<SendResult>;
}

export interface DeadLetter {
  readonly id: string;
  readonly service: string;
  readonly reason: string;
  readonly subject: string;
  readonly at: number;
  readonly bytes: Uint8Array;
}
export interface DeadLetters {
  put(letter: DeadLetter): Promise<void>;
  list(limit: number): Promise<DeadLetter[]>;
  count(): Promise<number>;
}

// ------------------------------------------------------------------------------------------------ access

/** A secret of a token, never as it is: its SHA-256 in hex, and when it ends, if it does (ms). */
export interface TokenSecret {
  readonly sha256: string;
  readonly until?: number;
}
/** A token made while the system runs. The newest secret is the first; a second one is the one before it, for a while. */
export interface IssuedToken {
  readonly v: 1;
  readonly id: string;
  readonly role: Role;
  /** As in `Principal`. */
  readonly principal?: string;
  readonly namespace?: string;
  readonly label: string;
  readonly createdAt: number;
  /** The actor who made it. */
  readonly createdBy: string;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  readonly secrets: readonly TokenSecret[];
}
/** What a ticket lets whoever has it do, once: open one event stream as this actor. */
export interface Ticket {
  readonly actor: string;
  readonly path: string;
  readonly expiresAt: number;
  /** SHA-256 (hex) of the token that it was asked for with: it is worth nothing without that. */
  readonly tokenSha256: string;
}
export interface Tokens {
  /** `false`: there is one with this id. */
  add(token: IssuedToken): Promise<boolean>;
  /** Changes the token as it is stored now. Resolves with what it then is; `null`: there is no such token. */
  change(id: string, change: (token: IssuedToken) => IssuedToken): Promise<IssuedToken | null>;
  remove(id: string): Promise<void>;
  /** Keeps a copy of all tokens in memory until closed, current within a second. */
  watch(): Promise<TokensView>;
  /** Keeps a ticket under the SHA-256 of its secret (hex) for `ttlMs`, whole seconds. */
  keepTicket(sha256: string, ticket: Ticket, ttlMs: number): Promise<void>;
  /** The ticket, to one caller alone and once; `null`: there is none, or it was used. */
  takeTicket(sha256: string): Promise<Ticket | null>;
}
export interface TokensView {
  get(id: string): IssuedToken | undefined;
  all(): Iterable<IssuedToken>;
  /** Reads now what has changed. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Who did, or tried, what concerns security. Never a secret, never what was said. `target` is the token's id or the session's key; `ok`: it
 * was about to be done, and was unless a record `failed` follows; `count`: how often, where several are told as one.
 */
export interface AuditRecord {
  readonly v: 1;
  readonly at: number;
  readonly kind: AuditKind;
  /** As in commits; empty: nobody knows who it was. */
  readonly actor: string;
  readonly target?: string;
  readonly outcome: 'ok' | 'refused' | 'failed';
  readonly detail?: string;
  /** Where the call came from. */
  readonly address?: string;
  readonly count?: number;
}
export interface StoredAudit extends AuditRecord {
  readonly seq: number;
}
/** The audit trail: durable, bounded in age and size (`topology.ts`); of each kind the oldest go first. */
export interface AuditLog {
  /** Durable once it resolves. */
  append(record: AuditRecord): Promise<void>;
  /** Records after a sequence, oldest first, and whether more follow. Without `after`: the newest ones. */
  page(options: { after?: number; limit: number; kind?: AuditKind }): Promise<{ records: StoredAudit[]; more: boolean }>;
}

/** How one process of the system is: what it runs, what is wrong with it, and its numbers. */
export interface HealthReport {
  readonly v: 1;
  /** Its name, unique. */
  readonly process: string;
  readonly version: string;
  readonly startedAt: number;
  readonly at: number;
  readonly services: readonly {
    readonly name: string;
    readonly problems: readonly string[];
    readonly warnings: readonly string[];
    readonly metrics: Readonly<Record<string, number>>;
  }[];
}
/** Which processes are there. A report that is not told again is forgotten within seconds: silence means gone. */
export interface Presence {
  tell(report: HealthReport): Promise<void>;
  leave(process: string): Promise<void>;
  /** May lag by a moment. */
  list(): Promise<HealthReport[]>;
}

// ------------------------------------------------------------------------------------------------ erasure

/** How much an erasure has removed. */
export interface Erased {
  readonly commits: number;
  /** Messages that waited for their time. */
  readonly timers: number;
  /** Commands that were done and still in their queue. */
  readonly commands: number;
  /** Custody records; the last one of each conversation stays, it has no text (I9). */
  readonly custody: number;
  readonly deadLetters: number;
  /** What was remembered of it (A7/82). */
  readonly memories: number;
}
/** Removes what is kept of a session. No service has it, only `natter erase`: it needs rights that nothing else needs (§5). */
export interface Eraser {
  /**
   * Removes all that was recorded of the key before the erasure at `uptoSeq`, which stays. To be called again after a failure, with the
   * same sequence. Rejects with `invalid` when what is recorded at that sequence is no erasure of this key.
   */
  erase(key: SessionKey, uptoSeq: number): Promise<Erased>;
}

// ------------------------------------------------------------------------------------------------ the model

/** The conversation as a model sees it. A `tool` message follows the assistant's message that has its call. */
export type ModelMessage =
  | { readonly role: 'user'; readonly text: string /** Who said it. */; readonly name?: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls?: readonly ToolCall[] }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly tool: string;
      readonly outcome: ToolOutcome;
      readonly text: string;
    };

/** A tool as a model is told of it. `parameters` is a JSON schema of an object. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}
export interface ModelRequest {
  readonly key: SessionKey;
  readonly turn: TurnRef;
  readonly step: number;
  readonly system: string;
  /** The conversation up to this step, within the model's window. */
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  /** The text of the message that the turn answers. */
  readonly prompt: string;
  readonly thinkingLevel?: string;
  /** What the step is for, if not for an answer: a summary of the conversation, notes for later, or a look back (A7/82). */
  readonly purpose?: 'compaction' | 'flush' | 'introspection';
}
export interface Model {
  readonly name: string;
  /** Tokens its window holds. */
  readonly windowTokens: number;
  /** One step. Calls `onText` with each piece as it comes. Never rejects but by `signal`: a provider's error is an outcome. */
  step(request: ModelRequest, onText: (text: string) => void, signal: AbortSignal): Promise<StepOutcome>;
  /**
   * Present on a model without effects that may answer at once from the request alone; `null` when it cannot. A turn that ends at once
   * is then one commit (ADR 3): there is no effect in it that could run twice.
   */
  instantly?(request: Pick<ModelRequest, 'prompt' | 'step'>): StepOutcome | null;
}

// ------------------------------------------------------------------------------------------------ tools

/** In whose name and where a call is made. */
export interface ToolScope {
  readonly key: SessionKey;
  readonly sessionId: string;
  readonly turn: TurnRef;
  /** In whose name: with no more rights than each of those who have written what the turn answers. */
  readonly sender: Sender;
  /** The model's settings of the session, for runs that it begins in others. */
  readonly model?: string;
  /** The session's generation: once it is deleted, nothing that comes of a call reaches the key any more (C9). */
  readonly generation?: number;
  /** Runs in other sessions that this one has begun and that go on, as recorded; before that, with those of the step's earlier calls. */
  readonly spawned?: readonly SpawnedRun[];
  /** The skills that the session has: what tools may read, and the variables that programs get (A15/162, 168). */
  readonly skills?: readonly Skill[];
}
export interface ToolRun {
  /** The idempotency key of the effect. */
  readonly callId: string;
  /** What the model gave, parsed; a tool checks it with its own schema. */
  readonly arguments: unknown;
  readonly scope: ToolScope;
}
export interface ToolEnd {
  readonly outcome: 'ok' | 'error';
  readonly text: string;
  /** What the call makes of the long-term memory: recorded with its result (A7/82). */
  readonly memory?: MemoryEdit;
}
export interface Tool extends ToolSpec {
  /** The same call again, with the same id, has no further effect. */
  readonly idempotent: boolean;
  /** What the policy says where no rule matches. */
  readonly usual: 'allow' | 'ask' | 'deny';
  /** A grant for good does not count: each call is asked about anew. */
  readonly onceOnly?: true;
  /** Milliseconds after which a call that has not ended by itself is given up, where it is not `tools.timeoutMs`. */
  readonly timeoutMs?: number;
  /** What a call would do, for the person who is asked. */
  describe(given: unknown): string;
  /**
   * The run in another session that a call begins: recorded before it does, so that it can be stopped (A11/125). `undefined`: the call will
   * say no. Without arguments it is not known whether they are right.
   */
  spawns?(run: Omit<ToolRun, 'arguments'> & { readonly arguments?: unknown }): SpawnedRun | undefined;
  /** Never rejects but by `signal`; whoever aborts does not want to know how it ends. */
  run(run: ToolRun, signal: AbortSignal): Promise<ToolEnd>;
}
/** The tools of all sessions of a host. */
export interface Tools {
  /** Those a session has now, in a stable order. */
  of(scope: Pick<ToolScope, 'key' | 'sender'>): readonly Tool[];
  /** Why some are missing that should be there. */
  problems(): readonly string[];
  close(): Promise<void>;
}

// ------------------------------------------------------------------------------------------------ all of them

/** What the broker gives a service. `services/<name>/main.ts` alone chooses the adapters and hands a service the ports it uses. */
export interface Ports {
  readonly clock: Clock;
  readonly events: EventLog;
  readonly commands: CommandBus;
  readonly inbound: WorkQueue<InboundEnvelope>;
  readonly checkpoints: WorkQueue<CheckpointRequest>;
  readonly answers: Answers;
  readonly snapshots: Snapshots;
  readonly index: SessionIndex;
  readonly memory: MemoryStore;
  readonly cursors: Cursors;
  readonly leases: Leases;
  readonly live: Live;
  readonly custody: CustodyLog;
  readonly deadLetters: DeadLetters;
  readonly tokens: Tokens;
  readonly audit: AuditLog;
  readonly presence: Presence;
  /** Why the broker cannot be relied on now: disconnected, a stream missing, the log regressed (I13). Empty: all is well. */
  problems(): readonly string[];
  close(): Promise<void>;
}
