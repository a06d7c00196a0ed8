import type { DeliveryTarget } from '../../domain/values/types.ts';
import type { CustodyLog } from '../../ports/custody-log.ts';
import { custodyCodec } from '../../wire/custody-record.ts';
import { type Subjects, subjectsUnder } from '../../wire/subjects.ts';
import type { KeyValue } from '../kv/key-value.ts';

/**
 * The delivery log in memory. It keeps the newest record of each conversation, which is all that the port shows, and one sequence
 * for all.
 */
export const createInMemoryCustodyLog = (records: KeyValue, subjects: Subjects = subjectsUnder('natter')): CustodyLog => {
  const conversation = (target: DeliveryTarget): string => subjects.deliveriesTo(target);
  return {
    last: async (target) => {
      const { revision, value } = await records.read(conversation(target));
      return value === null ? null : { record: custodyCodec.decode(value), seq: revision };
    },
    append: async (record, expectedSeq) => {
      const key = conversation(record.target);
      return records.put(key, custodyCodec.encode(record), { fence: { key, revision: expectedSeq } });
    },
  };
};
