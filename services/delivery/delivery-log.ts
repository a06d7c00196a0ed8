import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { DeliveryTarget } from '../../shared/domain/values/types.ts';
import type { Clock } from '../../shared/kit/clock.ts';
import { hasCode } from '../../shared/kit/errors.ts';
import type { CustodyLog, CustodyRecord, Outbound } from '../../shared/ports/custody-log.ts';
import { deliveryLimits } from './delivery-limits.ts';
import type { DeliveryState } from './delivery-state.ts';
import { retryMs } from './retry.ts';

/** Identifies a conversation: two targets have the same name only if they are equal. */
export const conversationOf = ({ channel, to, accountId, threadId }: DeliveryTarget): string =>
  JSON.stringify([channel, to, accountId, threadId]);

/** The conversation of such a name; `null` for another name. */
export const conversationIn = (name: string): DeliveryTarget | null => {
  const [channel, to, accountId, threadId] = JSON.parse(name) as (string | null)[];
  return channel && to ? { channel, to, ...(accountId && { accountId }), ...(threadId && { threadId }) } : null;
};

export interface DeliveryLogOptions {
  readonly custody: CustodyLog;
  readonly clock: Clock;
  readonly random: () => number;
  readonly member: string;
  /** Aborts when this process must not write any more. */
  readonly held: AbortSignal;
}

/** The custody log as the delivery worker uses it: the last record of each conversation, and new records fenced by it (I9). */
export const createDeliveryLog = ({ custody, clock, random, member, held }: DeliveryLogOptions) => {
  const known = new LRUCache<string, { record: CustodyRecord | null; seq: number }>({ max: deliveryLimits.conversations });

  const last = async (target: DeliveryTarget): Promise<{ record: CustodyRecord | null; seq: number }> => {
    const conversation = conversationOf(target);
    const cached = known.get(conversation);
    if (cached) return cached;
    const loaded = (await custody.last(target)) ?? { record: null, seq: 0 };
    known.set(conversation, loaded);
    return loaded;
  };

  /** Appends a record. When the broker does not say whether it was stored, looks, and tries again. */
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
    /** Records a state after the conversation's last record. False when another process wrote first: read again before doing anything. */
    async write({ id, seq: outboundSeq, key, target }: Outbound, state: DeliveryState): Promise<boolean> {
      const conversation = conversationOf(target);
      const { seq: expectedSeq } = await last(target);
      const v = state.parts === undefined ? 1 : 2;
      const record: CustodyRecord = { v, outboundId: id, outboundSeq, key, target, at: clock.now(), by: member, ...state };
      known.delete(conversation);
      const seq = await append(record, expectedSeq);
      if (seq === null) return false;
      known.set(conversation, { record, seq });
      return true;
    },
  };
};
export type DeliveryLog = ReturnType<typeof createDeliveryLog>;
