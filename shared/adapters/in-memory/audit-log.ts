import { NatterError } from '../../kit/errors.ts';
import type { AuditLog, StoredAudit } from '../../ports/audit-log.ts';
import { auditCodec } from '../../wire/records.ts';
import { auditBounds } from '../../wire/topology.ts';
import { noFaults } from './faults.ts';
import type { InMemoryStoreOptions } from './kv-store.ts';

/** The audit trail in memory, with the same bound per kind as the stream. */
export const createInMemoryAuditLog = ({ clock, faults = noFaults }: InMemoryStoreOptions): AuditLog => {
  const stored: StoredAudit[] = [];
  let lastSeq = 0;
  const reach = async (call: 'append' | 'read'): Promise<void> => {
    const { fault, delayMs } = faults.next(call);
    await (delayMs > 0 ? clock.sleep(delayMs) : Promise.resolve());
    if (fault !== 'none' && fault !== 'stale') throw new NatterError('unavailable', 'the in-memory audit trail did not answer');
  };
  return {
    append: async (record) => {
      const bytes = auditCodec.encode(record);
      await reach('append');
      lastSeq += 1;
      stored.push({ ...auditCodec.decode(bytes), seq: lastSeq });
      const ofKind = stored.filter(({ kind }) => kind === record.kind);
      if (ofKind.length > auditBounds.maxMessagesPerSubject)
        stored.splice(
          stored.findIndex(({ kind }) => kind === record.kind),
          1,
        );
    },
    page: async ({ after, before = Number.POSITIVE_INFINITY, limit, kind }) => {
      await reach('read');
      const isIn = ({ seq }: StoredAudit): boolean => (after === undefined ? seq < before : seq > after);
      const found = stored.filter((record) => isIn(record) && (kind === undefined || record.kind === kind));
      if (after === undefined) return { records: found.slice(-limit), more: Number.isFinite(before) && found.length > limit };
      return { records: found.slice(0, limit), more: found.length > limit };
    },
  };
};
