import type { SessionKey } from '../domain/keys/session-key.ts';
import type { ToolSpec } from '../domain/prompt/model-request.ts';
import type { Skill } from '../domain/skills/skill.ts';
import type { MemoryEdit } from '../domain/values/memory-edit.ts';
import type { Sender, SpawnedRun, TurnRef } from '../domain/values/types.ts';

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
