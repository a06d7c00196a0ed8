import type { IndexRow } from '../domain/projections/index-row.ts';
import type { Run } from '../domain/projections/run.ts';
import type { CommandAnswer, RecordedCommit } from '../domain/session/envelope.ts';
import type { EventType, SessionEvent } from '../domain/session/events.ts';
import type { ShownState } from '../domain/session/fold/evolve.ts';
import type { Attachment } from '../domain/values/attachment.ts';
import type { thinkingLevels, verboseLevels } from '../domain/values/levels.ts';
import type { QueueRule } from '../domain/values/queue-rule.ts';
import type { Settings, SettingsChange as StoredChange } from '../domain/values/settings.ts';
import type { DeliveryTarget, Sender } from '../domain/values/types.ts';
import type { Difference } from '../kit/comparison.ts';

/** What the gateway accepts and returns, as in docs/integrate/openapi.json. Times are milliseconds since 1970. */

export type { DeliveryTarget, EventType, Run, Sender, SessionEvent, Settings };

/** Settings to change; `null` unsets one. */
export type SettingsChange = Omit<StoredChange, 'thinkingLevel' | 'verboseLevel'> & {
  thinkingLevel?: (typeof thinkingLevels)[number] | null | undefined;
  verboseLevel?: (typeof verboseLevels)[number] | null | undefined;
};

/** An event with the fields of its commit. `id` is `<seq>.<index>`, which is also the cursor after it. */
export type NatterEvent = SessionEvent & {
  readonly id: string;
  readonly seq: number;
  readonly index: number;
  readonly rev: number;
  readonly key: string;
  readonly sessionId: string;
  readonly at: number;
  /** The run it belongs to. */
  readonly correlationId: string;
  readonly actor: string;
  /** Name of the host that wrote it. Absent in commits of older versions, and in those that no host wrote. */
  readonly host?: string | undefined;
};
/** A piece of live text. Never repeated; the recorded message replaces it. Offsets are in UTF-16 units of the step's text. */
export interface LiveText {
  readonly type: 'delta';
  readonly key: string;
  readonly turn: { readonly id: string; readonly attempt: number };
  readonly step: number;
  readonly offset: number;
  readonly end: number;
  readonly text: string;
}
/** The session's history before this event was erased: delete any copy of it (C9). */
export interface Gap {
  readonly type: 'gap';
  readonly key: string;
  readonly before: string;
}
/** The store has lost events of the session before this one; `toRev` `null`: not known up to where. A copy of them may be the only one: keep it. */
export interface Damage {
  readonly type: 'damage';
  readonly key: string;
  readonly reason: 'missing' | 'changed' | 'unreadable';
  readonly fromRev: number;
  readonly toRev: number | null;
  readonly before: string;
}
/** An item of an event stream. Distinguished by `type`. */
export type StreamItem = NatterEvent | LiveText | Gap | Damage;

/** `GET /v1/events` and `GET /v1/sessions/{key}/events`. */
export interface EventPage {
  readonly events: readonly NatterEvent[];
  /** The `after` of the next page; of a page read backwards, its `before`. */
  readonly next: string;
  readonly more: boolean;
  /** Commits that the store has lost, between the commits `afterSeq` and `beforeSeq`; `null`: not known, none. */
  readonly gaps?: readonly (Pick<Damage, 'key' | 'reason' | 'fromRev' | 'toRev'> & {
    readonly afterSeq: number;
    readonly beforeSeq: number | null;
  })[];
}

/** A position in the log: a sequence (after that whole commit), or the id of an event. */
export type Cursor = number | string;
export interface EventFilter {
  /** One session, which need not exist yet. */
  readonly key?: string | undefined;
  /** Sessions whose key begins with these whole segments. Excludes `key`. */
  readonly keyPrefix?: string | undefined;
  readonly types?: readonly EventType[] | undefined;
  /** Starts after this position; 0: from the beginning. Default: from now on. */
  readonly after?: Cursor | undefined;
  /** Includes live text. Only with `key`. */
  readonly live?: boolean | undefined;
}

export type SessionRow = IndexRow & {
  /** The short form that people see, such as `main`. */
  readonly shownKey: string;
  readonly queueMode: QueueRule['mode'];
  /** There is a message that the caller has not seen. */
  readonly unread: boolean;
};
/** `GET /v1/sessions`. */
export interface SessionPage {
  readonly sessions: readonly SessionRow[];
  /** The `cursor` of the next page; `null`: there is none. */
  readonly nextCursor: string | null;
}
/** When a session is reset next, and by which part of the configuration; times in ms. `due`: its next message begins a new generation. */
interface NextReset {
  readonly rule: string;
  readonly due: boolean;
  readonly timeZone: string;
  readonly dailyAt?: number;
  readonly idleAt?: number;
}
export type Session = SessionRow & {
  /** The last sequence of the session that the index has; the row itself may be newer. */
  readonly indexedSeq: number;
  /** If the next message comes by the channel of the last one. */
  readonly nextReset: NextReset;
  /** If it comes by a call, which has no channel but the one in the key. */
  readonly nextResetByCall: NextReset;
  /** What a message of a call does while a turn is running; `queueMode` is that of the channel where the session was last used. */
  readonly queueModeByCall: QueueRule['mode'];
};
export interface Message {
  readonly id: string;
  readonly seq: number;
  readonly at: number;
  readonly sessionId: string;
  readonly role: 'user' | 'assistant';
  readonly messageId: string;
  readonly text: string;
  readonly sender?: Sender;
  readonly runId?: string;
  readonly attachments?: readonly Attachment[];
  /** The platform's id of the message that this one replies to. */
  readonly replyTo?: string;
  /** When its text was last edited, ms. */
  readonly editedAt?: number;
}
/** Messages that a search has found. */
export interface FoundMessages {
  readonly messages: readonly (Pick<Message, 'id' | 'seq' | 'at' | 'role'> & {
    readonly key: string;
    readonly shownKey: string;
    /** The name of the person who said it, if the message has one. */
    readonly from?: string;
    /** The part of the text around what was found. */
    readonly excerpt: string;
  })[];
  /** Older messages than this sequence were not searched; 0: all were. */
  readonly since: number;
  /** Whether all was searched that had been said by then. */
  readonly complete: boolean;
}
/** One commit of a session's log, as stored. */
export type LogEntry = RecordedCommit;
/** The same as bytes: `bytes` is the stored message in base64. */
export interface StoredLogEntry {
  readonly seq: number;
  readonly recordedAt: number;
  readonly bytes: string;
}

/** A message to post. */
export interface NewMessage {
  readonly text: string;
  readonly messageId?: string;
  readonly sender?: Pick<Sender, 'id' | 'name'>;
  readonly deliverTo?: DeliveryTarget;
  /** What to do if a turn is running. Default: as configured. */
  readonly queue?: QueueRule['mode'];
  /** `false` sends a text such as `/new` to the model as it is. */
  readonly commands?: boolean;
  /** Send later, at this time: milliseconds or ISO 8601. */
  readonly sendAt?: number | string;
  /** Files: base64 with a media type, or data URLs. Together at most `attachments.maxMegabytes`. */
  readonly attachments?: { readonly data: string; readonly type?: string; readonly name?: string }[];
}
type GoingOn = Exclude<
  Run,
  | { readonly approvalId: string }
  | { readonly callIds: readonly string[] }
  | { readonly reply: string | null }
  | { readonly error: object }
>;
/** A run as the call that started it returned. `duplicate`: it had already been started with the same Idempotency-Key. */
export type BegunRun =
  | (GoingOn & { readonly duplicate?: boolean; readonly sendAt?: number })
  | (Exclude<Run, GoingOn> & { readonly duplicate?: undefined; readonly sendAt?: undefined });
/** The outcome of a command. `accepted`: it is stored and takes effect later. */
export interface Taken {
  readonly runId: string;
  readonly status: 'ok' | 'accepted';
  readonly outcome?: CommandAnswer['outcome'];
  readonly seq?: number;
  readonly rev?: number;
}
/** A requested checkpoint. `requested: false`: nothing was said since the last one. */
export type CheckpointTaken = Taken & { readonly requested?: boolean };
/** A fork. The generation it started is known once the session has answered. */
export type Forked = Taken & {
  readonly key: string;
  readonly sessionId?: string;
  readonly generation?: number;
  readonly forkedFrom?: { readonly sessionId: string; readonly seq: number; readonly rev: number };
};
export type Patched = Taken & { readonly key: string; readonly settings: Settings };

/** A session's state, folded from its log. */
export type State = ShownState & { readonly key: string; readonly from: 'snapshot' | 'log' };
export interface Place {
  readonly seq: number;
  readonly rev: number;
  readonly at: number;
}
export interface Diff {
  readonly key: string;
  readonly from: Place;
  readonly to: Place;
  readonly changes: readonly Difference[];
  readonly events: readonly NatterEvent[];
  readonly next: string;
  readonly more: boolean;
}

export type Verdict = 'allow-once' | 'allow-always' | 'deny';
export interface PendingApproval {
  readonly approvalId: string;
  readonly sessionKey: string;
  /** The name that somebody gave the session, or that of its chat. */
  readonly sessionName?: string;
  readonly tool?: string;
  readonly action: string;
  readonly asks: 'run' | 'retry';
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly approvers: readonly string[];
  readonly onceOnly: boolean;
  /** Its address on the page, where `gateway.publicUrl` is set. */
  readonly pageUrl?: string;
}
export type AnsweredApproval = Taken & {
  readonly approvalId: string;
  readonly sessionKey: string;
  readonly verdict: Verdict;
};
