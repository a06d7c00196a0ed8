import { LRUCache } from 'lru-cache';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import { isErasure } from '../../shared/domain/session/chain.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import { sessionChannel } from '../../shared/domain/values/types.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Outbound } from '../../shared/ports/custody-log.ts';

/** Remembers which sessions were erased, so that nothing of theirs is sent later or kept as a dead letter (C9). */
export const createErasures = () => {
  const erasedAt = new LRUCache<SessionKey, number>({ max: limits.deliveryWindow });
  return {
    note: (commit: RecordedCommit): void => {
      if (isErasure(commit)) erasedAt.set(commit.key, commit.seq);
    },
    /**
     * The outbound as it is now: without its text once its session was erased. Another session still learns that a run has ended or must
     * end.
     */
    revised: (outbound: Outbound): Outbound => {
      const isErased = outbound.seq < (erasedAt.get(outbound.key) ?? 0);
      if (!isErased || outbound.kind === 'stop') return outbound;
      const isResult = outbound.target.channel === sessionChannel && outbound.kind === 'assistant_message';
      return { ...outbound, text: '', ...(!isResult && { suppressedReason: 'its session was erased' }) };
    },
  };
};
export type Erasures = ReturnType<typeof createErasures>;
