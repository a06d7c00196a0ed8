import type { AuditKind } from '../../domain/access/audit.ts';
import type { MemoryEntry } from '../../domain/memory/memory-entry.ts';
import type { LogBytes } from '../../domain/reset/retention.ts';
import type { AttachmentLimits } from '../../domain/values/attachment.ts';
import type { Role } from '../../domain/values/role.ts';

/** What `client.get` returns for the paths without a method of their own, as in docs/integrate/openapi.json. Times are milliseconds since 1970. */

export type { Role };

/** `GET /v1/me`: who calls. */
export interface Caller {
  readonly actor: string;
  readonly role: Role;
  readonly principal?: string;
  readonly namespace?: string;
  /** The session that a viewer may read. */
  readonly sessionKey?: string;
  /** The token is that of a page, which can sign out. */
  readonly isPage: boolean;
  readonly agentId: string;
  /** Key of the main session. */
  readonly mainKey: string;
  /** What the files of one message may be. A gateway of an earlier version does not say. */
  readonly attachments?: AttachmentLimits;
  /** The token that the page was opened with. */
  readonly signedInBy?: string;
  readonly expiresAt?: number;
}
/** `POST /v1/page/codes`: a code that signs a page in, once. */
export interface LoginCode {
  readonly code: string;
  readonly expiresAt: number;
  readonly role: Role;
  /** Where the page is, if that is configured. */
  readonly publicUrl?: string;
}

/** `POST /v1/tokens` for a viewer: a link to one session. */
export interface SharedLink {
  readonly id: string;
  readonly token: string;
  readonly expiresAt?: number;
  /** Where the page is, if that is configured. */
  readonly publicUrl?: string;
}

/** A memory. `source` is its last change. */
export type Memory = Omit<MemoryEntry, 'changes'>;
/** `GET /v1/memory`. */
export interface MemoryPage {
  readonly memories: readonly Memory[];
  readonly nextCursor: string | null;
}
/** `GET /v1/memory/{id}`: a memory and its history, oldest first. */
export type MemoryWithHistory = Memory & {
  readonly history: readonly (Memory['source'] & {
    readonly at: number;
    readonly op: 'add' | 'update' | 'forget';
    readonly text?: string;
    readonly reason?: string;
    readonly from?: readonly number[];
  })[];
};

/** A sender on a channel. */
export interface ChannelSender {
  readonly channel: string;
  readonly senderId: string;
  readonly name?: string;
}
/** `GET /v1/pairing`: strangers who wait for the owner, and senders whom the owner approved. */
export interface Pairings {
  readonly requests: readonly (ChannelSender & {
    readonly code: string;
    readonly requestedAt: number;
    readonly expiresAt: number;
  })[];
  readonly paired: readonly (ChannelSender & { readonly pairedAt: number; readonly by: string })[];
}

/** `GET /v1/audit`. */
export interface AuditPage {
  readonly records: readonly {
    readonly v: 1;
    readonly seq: number;
    readonly at: number;
    readonly kind: AuditKind;
    /** As in commits; empty if unknown. */
    readonly actor: string;
    readonly target?: string;
    readonly outcome: 'ok' | 'refused' | 'failed';
    readonly detail?: string;
    readonly address?: string;
    readonly count?: number;
    /** The log sequence of the commit that the action made, if that is known. */
    readonly commitSeq?: number;
  }[];
  readonly next: string;
  readonly more: boolean;
}

/** `GET /v1/hosts`. */
export interface Hosts {
  readonly processes: readonly {
    readonly process: string;
    readonly version: string;
    readonly startedAt: number;
    readonly reportedAt: number;
    readonly services: readonly {
      readonly name: string;
      /** Its name in commits and in lines of the log; a gateway has none. */
      readonly member?: string;
      readonly problems: readonly string[];
      readonly warnings: readonly string[];
      readonly metrics: Readonly<Record<string, number>>;
    }[];
  }[];
  /** `process`: who holds it, `null` if nobody says so. `waiting`: commands that are not done yet, `null` if the broker does not say. */
  readonly partitions: readonly {
    readonly partition: number;
    readonly process: string | null;
    readonly since?: number;
    readonly waiting: number | null;
  }[];
  /** The partition of the key that was asked about. */
  readonly ofKey?: number;
}

/** `GET /v1/skills`, in order of precedence. */
export interface Skills {
  readonly skills: readonly {
    /** `null`: the folder is no skill. */
    readonly name: string | null;
    readonly description: string;
    readonly source: string;
    readonly folder: string;
    readonly status: 'eligible' | 'ineligible' | 'shadowed' | 'unusable';
    /** Why the agent does not have it, in sentences. */
    readonly reasons: readonly string[];
    readonly notes: readonly string[];
    /** The command that installs what is missing. */
    readonly repair: string | null;
    /** The word that calls it in a chat, without `/`. */
    readonly command: string | null;
  }[];
}

/** `GET /v1/config`: the configuration in force. Secrets are `[secret]`. */
export interface ConfigInForce {
  /** `null`: there is none. */
  readonly file: string | null;
  readonly keys: readonly {
    readonly path: string;
    readonly value: unknown;
    readonly origin: string;
    /** When another value counts: once the file is saved, or at the next start. */
    readonly takesEffect: 'at_once' | 'at_start';
    readonly effect?: string;
  }[];
  /** The other processes, and the sections in which their configuration differs. */
  readonly processes: readonly { readonly process: string; readonly differsIn: readonly string[] }[];
}

/** `GET /v1/doctor`. */
export interface DoctorReport {
  /** No check failed. */
  readonly ok: boolean;
  readonly findings: readonly {
    readonly what: string;
    readonly level: 'ok' | 'warn' | 'fail';
    readonly detail: string;
    readonly fix?: string;
  }[];
}

/** `GET /v1/log`: lines of the log of the gateway's process. `next` is the `after` of the next call. */
export interface LogPage {
  readonly lines: readonly {
    readonly number: number;
    readonly at: number;
    readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
    readonly message: string;
    readonly fields: Readonly<Record<string, unknown>>;
  }[];
  readonly next: number;
}

/** `GET /v1/metrics/history`: the metrics of the gateway's process in the last minutes. */
export interface MetricHistory {
  /** When each sample was taken, oldest first. */
  readonly at: readonly number[];
  /** Of each metric the sum of its series at each sample; `null`: there was none. */
  readonly series: Readonly<Record<string, readonly (number | null)[]>>;
}

/** `GET /v1/retention`: the sessions that retention has due. */
export interface Retention {
  readonly mode: 'report' | 'enforce';
  /** Of all that are due. */
  readonly count: number;
  readonly due: readonly {
    readonly key: string;
    readonly shownKey: string;
    readonly rule: 'stateless' | 'age' | 'count' | 'bytes';
    /** Whether retention deletes it without being asked. */
    readonly byItself: boolean;
    readonly seq: number;
    readonly interactedAt: number;
    readonly messageCount: number;
    readonly logBytes?: number;
  }[];
  readonly logBytes: LogBytes;
}
