import type { SessionKey } from '../keys/session-key.ts';
import type { EventOf } from '../session/events.ts';

/**
 * One memory (A7/82). `id` is `<seq>-<number>` of the commit that added it; `scope` is as `scopeName` writes it. `source`
 * describes the last change: the answer to "why do you believe this".
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
    /** Sequence of the commit. */
    readonly seq: number;
    readonly fromRev: number;
    readonly toRev: number;
    readonly by: EventOf<'memory_changed'>['by'];
    readonly person?: string | undefined;
    readonly callId?: string | undefined;
  };
  /** The commits that changed it, oldest first: the first and the latest ones. */
  readonly changes: readonly { readonly key: SessionKey; readonly seq: number }[];
}

/** What the order of memories depends on. */
export interface MemoryMark {
  readonly id: string;
  readonly source: { readonly seq: number };
}
