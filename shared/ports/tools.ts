import type { SessionKey } from '../domain/keys/session-key.ts';
import type { ToolSpec } from '../domain/prompt/model-request.ts';
import type { Skill } from '../domain/skills/skill.ts';
import type { MemoryEdit } from '../domain/values/memory-edit.ts';
import type { Sender, SpawnedRun, TurnRef } from '../domain/values/types.ts';

/** Where a call is made, and on whose behalf. */
export interface ToolScope {
  readonly key: SessionKey;
  readonly sessionId: string;
  readonly turn: TurnRef;
  /** On whose behalf: with the rights that all authors of the answered messages have in common. */
  readonly sender: Sender;
  /** The session's model setting, for runs that it spawns. */
  readonly model?: string;
  /** The session's generation: once it is deleted, no result of a call reaches the key (C9). */
  readonly generation?: number;
  /** Running spawned runs as recorded; before that, including those of the step's earlier calls. */
  readonly spawned?: readonly SpawnedRun[];
  /** The skills of the session: what tools may read, and the variables that programs get (A15/162, 168). */
  readonly skills?: readonly Skill[];
}

export interface ToolRun {
  /** The idempotency key of the effect. */
  readonly callId: string;
  /** The model's arguments, parsed as JSON; each tool validates them with its own schema. */
  readonly arguments: unknown;
  readonly scope: ToolScope;
}

export interface ToolEnd {
  readonly outcome: 'ok' | 'error';
  readonly text: string;
  /** The call's changes to long-term memory, recorded with its result (A7/82). */
  readonly memory?: MemoryEdit;
}

export interface Tool extends ToolSpec {
  /** Repeating a call with the same id has no further effect. */
  readonly idempotent: boolean;
  /** A call changes nothing anywhere, so a result that is lost is simply got again: it need not be recorded at once. */
  readonly readsOnly?: true;
  /** The policy decision when no rule matches. */
  readonly usual: 'allow' | 'ask' | 'deny';
  /** Reads only what everybody in the session may read anyway, so strangers need no rule for it (ADR 22). */
  readonly openToAll?: true;
  /** Permanent grants do not apply: each call needs its own approval. */
  readonly onceOnly?: true;
  /** Milliseconds after which a call is given up, if not `tools.timeoutMs`. */
  readonly timeoutMs?: number;
  /** What a call would do, in words for the approver. */
  describe(given: unknown): string;
  /** Why these arguments are wrong, in words for the model: nobody is asked about such a call. `null`: they are not. */
  faultIn?(given: unknown): string | null;
  /**
   * The run in another session that a call spawns: recorded before it starts, so that it can be stopped (A11/125). `undefined`:
   * the call will be refused. Without arguments their validity is unknown.
   */
  spawns?(run: Omit<ToolRun, 'arguments'> & { readonly arguments?: unknown }): SpawnedRun | undefined;
  /** Rejects only when `signal` aborts; the result is then no longer wanted. */
  run(run: ToolRun, signal: AbortSignal): Promise<ToolEnd>;
}

/** The tools of all sessions of a host. */
export interface Tools {
  /** The tools that a session has now, in a stable order. */
  of(scope: Pick<ToolScope, 'key' | 'sender'>): readonly Tool[];
  /** Why expected tools are missing. */
  problems(): readonly string[];
  close(): Promise<void>;
}
