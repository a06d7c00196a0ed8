import { limits } from '../../kit/limits.ts';
import type { HealthReport, Presence } from '../../ports/presence.ts';
import { healthCodec } from '../../wire/records.ts';
import { bucketKey } from '../../wire/subjects.ts';
import type { KeyValue } from './key-value.ts';

const part = 'health';
/** How often a process reports, and how long a report lasts: after three missed reports the process counts as gone. */
export const healthTimes = { tellMs: 3_000, ttlMs: 10_000 } as const;

/** The broker ends an entry some time after its end. */
const slackMs = 2_000;

/** Health reports in the bucket of the hosts, under `health.<process>`, expiring after `ttlMs`. */
export const createPresence = (bucket: KeyValue, ttlMs: number = healthTimes.ttlMs): Presence => ({
  tell: async (report) => {
    await bucket.put(bucketKey(part, report.process), healthCodec.encode(report), { ttlMs });
  },
  leave: async (process) => {
    await bucket.put(bucketKey(part, process), null, { ttlMs });
  },
  list: async () => {
    const [{ entries }, { now }] = await Promise.all([bucket.changes(part, 0, limits.processes), bucket.info()]);
    // A broker that was killed may have brought back reports of processes that are long gone.
    const current = entries.filter(({ writtenAt }) => writtenAt > now - ttlMs - slackMs);
    return current.flatMap(({ value }) => (value === null ? [] : (reportOrNull(value) ?? [])));
  },
});

/** A report of another version may be unreadable; it is skipped. */
const reportOrNull = (bytes: Uint8Array): HealthReport | null => {
  try {
    return healthCodec.decode(bytes);
  } catch {
    return null;
  }
};
