import type { DeliveryTarget } from '../../domain/values/types.ts';
import type { CustodyLog, CustodyRecord, StoredCustody } from '../../ports/custody-log.ts';
import { custodyCodec } from '../../wire/custody-record.ts';
import { type Subjects, subjectsUnder } from '../../wire/subjects.ts';
import type { KeyValue } from '../kv/key-value.ts';

export interface InMemoryCustodyLog extends CustodyLog {
  /** Removes a conversation's records, but not its last one. Returns how many they were. */
  erase(target: DeliveryTarget, belongs: (record: CustodyRecord) => boolean): number;
}

/** The delivery log in memory, with one sequence for all. The newest record of each conversation is in a bucket, for the fence. */
export const createInMemoryCustodyLog = (newest: KeyValue, subjects: Subjects = subjectsUnder('natter')): InMemoryCustodyLog => {
  const kept = new Map<string, readonly StoredCustody[]>();
  const conversation = (target: DeliveryTarget): string => subjects.deliveriesTo(target);
  const recordsOf = (target: DeliveryTarget): readonly StoredCustody[] => kept.get(conversation(target)) ?? [];
  return {
    last: async (target) => {
      const { revision, value } = await newest.read(conversation(target));
      return value === null ? null : { record: custodyCodec.decode(value), seq: revision };
    },
    read: async function* (target, after) {
      for (const { seq: _, ...record } of recordsOf(target)) if (record.at > after) yield record;
    },
    newest: async (state, { before = Number.POSITIVE_INFINITY, limit }) => {
      const found = [...kept.values()].flat().filter((record) => record.state === state && record.seq < before);
      const records = found.sort((one, other) => other.seq - one.seq).slice(0, limit);
      return { records, next: found.length > limit ? (records.at(-1)?.seq ?? null) : null };
    },
    append: async (record, expectedSeq) => {
      const key = conversation(record.target);
      const seq = await newest.put(key, custodyCodec.encode(record), { fence: { key, revision: expectedSeq } });
      if (seq !== null) kept.set(key, [...recordsOf(record.target), { ...record, seq }]);
      return seq;
    },
    erase: (target, belongs) => {
      const records = recordsOf(target);
      const left = records.filter((record) => record === records.at(-1) || !belongs(record));
      kept.set(conversation(target), left);
      return records.length - left.length;
    },
  };
};
