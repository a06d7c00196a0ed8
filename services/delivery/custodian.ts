import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { DeliveryTarget } from '../../shared/domain/values/types.ts';
import type { Clock } from '../../shared/kit/clock.ts';
import { hasCode } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { CustodyLog, CustodyRecord, Outbound } from '../../shared/ports/custody-log.ts';
import type { Mark } from './custody.ts';
import { retryMs } from './retry.ts';

/** A name for a conversation that two targets share only when they are the same. */
export const conversationOf = ({ channel, to, accountId, threadId }: DeliveryTarget): string =>
  JSON.stringify([channel, to, accountId, threadId]);

export interface CustodianOptions {
  readonly custody: CustodyLog;
  readonly clock: Clock;
  readonly random: () => number;
  readonly member: string;
  /** Aborts when we must not write any more. */
  readonly held: AbortSignal;
}

/** Keeps the custody log: the last record of each conversation, and new records fenced by it (I9). */
export const createCustodian = ({ custody, clock, random, member, held }: CustodianOptions) => {
  const known = new LRUCache<string, { record: CustodyRecord | null; seq: number }>({ max: limits.deliveryConversations });

  const last = async (target: DeliveryTarget): Promise<{ record: CustodyRecord | null; seq: number }> => {
    const conversation = conversationOf(target);
    const cached = known.get(conversation);
    if (cached) return cached;
    const loaded = (await custody.last(target)) ?? { record: null, seq: 0 };
    known.set(conversation, loaded);
    return loaded;
  };

  /** Appends, and asks again while the broker leaves it open whether the record is stored. */
  const append = async (record: CustodyRecord, expectedSeq: number): Promise<number | null> => {
    for (let failures = 0; ; failures += 1) {
      try {
        held.throwIfAborted();
        const stored = failures === 0 ? null : await custody.last(record.target);
        if (stored && isDeepStrictEqual(stored.record, record)) return stored.seq;
        return await custody.append(record, expectedSeq);
      } catch (error) {
        if (!hasCode(error, 'unavailable') || held.aborted) throw error;
        await clock.sleep(retryMs(failures, random()), held);
      }
    }
  };

  return {
    last,
    /** Writes a mark behind the conversation's last record. False when somebody else wrote first: look again before doing anything. */
    async write({ id, seq: outboundSeq, key, target }: Outbound, mark: Mark): Promise<boolean> {
      const conversation = conversationOf(target);
      const { seq: expectedSeq } = await last(target);
      const record: CustodyRecord = { v: 1, outboundId: id, outboundSeq, key, target, at: clock.now(), by: member, ...mark };
      known.delete(conversation);
      const seq = await append(record, expectedSeq);
      if (seq === null) return false;
      known.set(conversation, { record, seq });
      return true;
    },
  };
};
export type Custodian = ReturnType<typeof createCustodian>;
