import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import type { AuditRecord } from '../../../shared/ports/audit-log.ts';
import type { CacheBroker } from '../../support/caches.ts';

const record = (change: Partial<AuditRecord> = {}): AuditRecord => ({
  ...{ v: 1, at: 1_700_000_000_123, kind: 'token_created', actor: 'token:api', outcome: 'ok', target: randomUUID() },
  ...change,
});
const targets = (records: readonly AuditRecord[]) => records.map(({ target }) => target);

export const auditLogContract = (broker: () => CacheBroker): void => {
  test('another host reads all that was written, as it was, the oldest first, page by page', async () => {
    const [one, other] = [await broker().host(), await broker().host()];
    const { records: before } = await one.audit.page({ limit: 1 });
    const start = before[0]?.seq ?? 0;
    const written = Array.from({ length: 5 }, (_, count) =>
      record({ kind: count % 2 === 0 ? 'token_created' : 'access_denied', count: count + 1, detail: '界', address: '::1' }),
    );
    for (const each of written) await one.audit.append(each);
    await vi.waitFor(async () => expect((await other.audit.page({ after: start, limit: 9 })).records).toHaveLength(5));
    const first = await other.audit.page({ after: start, limit: 3 });
    expect(first.more).toBe(true);
    const rest = await other.audit.page({ after: first.records.at(-1)?.seq ?? 0, limit: 3 });
    expect(rest.more).toBe(false);
    const all = [...first.records, ...rest.records];
    expect(all.map(({ seq: _, ...each }) => each)).toEqual(written);
    expect(all.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq).toSorted((a, b) => a - b));
  });

  test('without a place to begin it is the newest ones, however far back those of a kind are', async () => {
    const { audit } = await broker().host();
    const rare = [record({ kind: 'config_reloaded' }), record({ kind: 'config_reloaded' })];
    const others = Array.from({ length: 30 }, () => record());
    for (const each of [...rare, ...others]) await audit.append(each);
    await vi.waitFor(async () => expect(targets((await audit.page({ limit: 4 })).records)).toEqual(targets(others.slice(-4))));
    expect(targets((await audit.page({ limit: 2, kind: 'config_reloaded' })).records)).toEqual(targets(rare));
    const [first] = (await audit.page({ limit: 2, kind: 'config_reloaded' })).records;
    const page = await audit.page({ after: first?.seq ?? 0, limit: 5, kind: 'config_reloaded' });
    expect([targets(page.records), page.more]).toEqual([targets(rare.slice(1)), false]);
  });

  test('before a record are those that came last before it, whatever their kind, and it is told whether there are older ones', async () => {
    const { audit } = await broker().host();
    const rare = [record({ kind: 'log_restored' }), record({ kind: 'log_restored' }), record({ kind: 'log_restored' })];
    const others = Array.from({ length: 12 }, () => record());
    for (const each of [...rare, ...others]) await audit.append(each);
    await vi.waitFor(async () => expect(targets((await audit.page({ limit: 1 })).records)).toEqual(targets(others.slice(-1))));
    const [, last] = (await audit.page({ limit: 2 })).records;
    const page = await audit.page({ before: last?.seq ?? 0, limit: 3 });
    expect([targets(page.records), page.more]).toEqual([targets(others.slice(-4, -1)), true]);
    const of = { kind: 'log_restored' as const, limit: 2 };
    const newest = await audit.page({ ...of, before: last?.seq ?? 0 });
    expect([targets(newest.records), newest.more]).toEqual([targets(rare.slice(1)), true]);
    const oldest = await audit.page({ ...of, before: newest.records[0]?.seq ?? 0 });
    expect([targets(oldest.records), oldest.more]).toEqual([targets(rare.slice(0, 1)), false]);
  });

  test('nothing is there after the last record, nor of a kind that never was', async () => {
    const { audit } = await broker().host();
    const { records } = await audit.page({ limit: 1 });
    expect(await audit.page({ after: records[0]?.seq ?? 0, limit: 5 })).toEqual({ records: [], more: false });
    expect(await audit.page({ limit: 5, kind: 'session_erased' })).toEqual({ records: [], more: false });
  });

  test('what is no record is not written', async () => {
    const { audit } = await broker().host();
    const wrong = [{ kind: 'tea_made' }, { target: 'x'.repeat(300) }, { detail: 'x'.repeat(2_000) }, { at: -1 }] as object[];
    for (const change of wrong) await expect(audit.append(record(change))).rejects.toMatchObject({ code: 'invalid' });
  });
};
