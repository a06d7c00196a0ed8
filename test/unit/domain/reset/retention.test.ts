import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../../shared/domain/projections/summary.ts';
import { dueSessions, erasableSessions, logBytesOf, removedSessions } from '../../../../shared/domain/reset/retention.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';
import { commitTo, recorded, userMessage } from '../../../support/domain/commits.ts';
import { runs } from '../../../support/runs.ts';

const now = Date.UTC(2026, 6, 1);
const hourMs = 3_600_000;
const rowOf = (key: string, idleHours: number, given: Partial<IndexRow> = {}): IndexRow => ({
  ...summarize(null, recorded(commitTo(key as SessionKey, { events: [userMessage('hello')] }), 1)),
  ...{ generation: 1, status: 'idle', interactedAt: now - idleHours * hourMs },
  ...given,
});
const session = (maintenance: object = {}, mainKey = 'main') => configSchema.parse({ session: { maintenance, mainKey } }).session;
const dueIn = (rows: readonly IndexRow[], maintenance: object = {}, mainKey?: string) =>
  dueSessions(rows, session(maintenance, mainKey), now).map(({ row, rule }) => `${row.key.replace('agent:main:', '')} ${rule}`);

const months = 24 * 60;
const stateless = `api:openai-${'a'.repeat(22)}`;

const megabyte = 1_000_000;
const erasableIn = (rows: readonly IndexRow[], maintenance: object = {}) =>
  erasableSessions(rows, session(maintenance), now).map(({ row, rule }) => `${row.key.replace('agent:main:', '')} ${rule}`);

describe('B1: how much the log may have', () => {
  const rows = [
    rowOf('agent:main:main', 700, { logBytes: 5 * megabyte }),
    rowOf('agent:main:cli:a', 300, { logBytes: 2 * megabyte }),
    rowOf('agent:main:cli:b', 200, { logBytes: 2 * megabyte }),
    rowOf('agent:main:cli:c', 100, { logBytes: undefined }),
    rowOf('agent:main:cli:d', 50, { logBytes: 2 * megabyte }),
    rowOf('agent:main:cli:e', 1, { logBytes: 2 * megabyte }),
    rowOf('agent:main:cli:gone', 10, { deleted: true, logBytes: 3 * megabyte, updatedAt: now - 10 * hourMs }),
    rowOf('agent:main:cli:long-gone', 900, { deleted: true, logBytes: megabyte, updatedAt: now - 31 * 24 * hourMs }),
    rowOf('agent:main:cli:erased', 900, { deleted: true, logBytes: 0, updatedAt: now - 31 * 24 * hourMs }),
  ];

  test('sessions go until the others fit, those unused for longest first; what stays and what is recent counts, and stays', () => {
    expect(dueIn(rows, { maxLogMegabytes: 13 })).toEqual([]);
    expect(dueIn(rows, { maxLogMegabytes: 12 })).toEqual(['cli:a bytes']);
    expect(dueIn(rows, { maxLogMegabytes: 9 })).toEqual(['cli:a bytes', 'cli:b bytes']);
    expect(dueIn(rows, { maxLogMegabytes: 1 })).toEqual(['cli:a bytes', 'cli:b bytes', 'cli:d bytes']);
    expect(dueIn(rows, { maxLogMegabytes: 11, pruneAfterDays: 10 })).toEqual(['cli:a age']);
    expect(logBytesOf(rows)).toEqual({ live: 13 * megabyte, deleted: 4 * megabyte, unknown: 1 });
  });

  test('deleting frees nothing: a deleted session no longer counts, and enforcing ends there', () => {
    const deleted = rows.map((row) => (row.key === 'agent:main:cli:a' ? { ...row, deleted: true } : row));
    expect(dueIn(deleted, { maxLogMegabytes: 12 })).toEqual([]);
  });

  test('to be erased: what is due, what was deleted long ago; for space first what was deleted lately, then what is unused', () => {
    expect(erasableIn(rows)).toEqual(['cli:long-gone deleted']);
    expect(erasableIn(rows, { maxLogMegabytes: 16 })).toEqual(['cli:long-gone deleted']);
    expect(erasableIn(rows, { maxLogMegabytes: 15 })).toEqual(['cli:long-gone deleted', 'cli:gone bytes']);
    expect(erasableIn(rows, { maxLogMegabytes: 12 })).toEqual(['cli:long-gone deleted', 'cli:gone bytes', 'cli:a bytes']);
    expect(erasableIn(rows, { maxSessions: 5, maxLogMegabytes: 1 }).slice(0, 4)).toEqual([
      ...['cli:a count', 'cli:long-gone deleted', 'cli:gone bytes', 'cli:b bytes'],
    ]);
  });

  test('a row knows what erasing frees: all commits since an erasure, also of a deleted session; of an old row nothing is known', () => {
    const key = 'agent:main:cli:sized' as SessionKey;
    const gone = (mode: 'key' | 'erased'): SessionEvent =>
      ({
        ...{ type: 'session_deleted', v: 1, mode, sessionId: 's1', generation: 1, epoch: 1 },
        turnIds: [],
        reason: '',
      }) as const;
    const commits = [[userMessage('hello')], [gone('key')], [gone('erased')], [userMessage('again')]].map((events, at) =>
      recorded(commitTo(key, { rev: at + 1, events }), at + 1),
    );
    const [first = 0, second = 0, , fourth] = commits.map(({ sizeBytes }) => sizeBytes);
    let row: IndexRow | null = null;
    const seen = commits.map((commit) => {
      row = summarize(row, commit);
      return row.logBytes;
    });
    expect(first).toBeGreaterThan(100);
    expect(seen).toEqual([first, first + second, 0, fourth]);
    const { logBytes: _, ...old } = rowOf(key, 1);
    expect(summarize(old, { ...(commits[1] ?? commits[0]!), seq: 9 }).logBytes).toBeUndefined();
  });
});

describe('B1, B2, D10: which sessions are due', () => {
  test.each<[what: string, key: string, idleHours: number, given: Partial<IndexRow>, due: string | null]>([
    ['unused for 30 days', 'cli:work', 30 * 24, {}, 'age'],
    ['unused for less', 'cli:work', 30 * 24 - 1, {}, null],
    ['a direct session of a person', 'telegram:dm:42', months, {}, 'age'],
    ['hidden by /new', 'cli:work', months, { status: 'inactive' }, 'age'],
    ['a cron session', 'cron:daily', months, {}, 'age'],
    ['the main session', 'main', months, {}, null],
    ['the global session', 'global', months, {}, null],
    ['a group (A8/88)', 'telegram:group:-1', months, {}, null],
    ['a thread of a channel', 'slack:channel:C1:topic:7', months, {}, null],
    ['running', 'cli:work', months, { status: 'running' }, null],
    ['awaiting an approval', 'cli:work', months, { status: 'awaiting_approval' }, null],
    ['with a message that waits', 'cli:work', months, { queuedTurns: 1 }, null],
    ['deleted already', 'cli:work', months, { deleted: true }, null],
    ['a key without a session', 'cli:work', months, { generation: 0 }, null],
    ['a stateless call, a day ago', stateless, 24, {}, 'stateless'],
    ['a stateless call, just now', stateless, 23, {}, null],
    ['a stateless call that still runs', stateless, 24, { status: 'running' }, null],
    ['one that a person has named', stateless, 24, { settings: { displayName: 'Plans' } }, null],
    ['the session of a user of that interface', `api:openai-user-${'a'.repeat(22)}`, 24, {}, null],
  ])('%s', (_, key, idleHours, given, due) => {
    const rows = [rowOf(`agent:main:${key}`, idleHours, given)];
    expect(dueIn(rows)).toEqual(due === null ? [] : [`${key} ${due}`]);
  });

  test('the main session has the key that the configuration says', () => {
    const rows = [rowOf('agent:main:home', months), rowOf('agent:main:main', months)];
    expect(dueIn(rows, {}, 'home')).toEqual(['main age']);
  });

  test('of too many those unused for longest go, but none that was used within the last hours', () => {
    const rows = ['main', 'a', 'b', 'c', 'd'].map((name, at) => rowOf(`agent:main:${name}`, [500, 10, 300, 40, 30][at] ?? 0));
    expect(dueIn(rows, { maxSessions: 3 })).toEqual(['b count', 'c count']);
    expect(dueIn(rows, { maxSessions: 1 })).toEqual(['b count', 'c count', 'd count']);
    expect(dueIn(rows, { maxSessions: 1, keepRecentHours: 0 })).toEqual(['b count', 'c count', 'd count', 'a count']);
    expect(dueIn(rows, { maxSessions: 4, pruneAfterDays: 10 })).toEqual(['b age']);
  });

  test('a setting of 0 keeps the sessions of stateless calls like any others', () => {
    const rows = [rowOf(`agent:main:${stateless}`, 48), rowOf('agent:main:cli:x', 48)];
    expect(dueIn(rows, { statelessIdleMinutes: 0 })).toEqual([]);
    expect(dueIn(rows, { statelessIdleMinutes: 0, pruneAfterDays: 1 })).toHaveLength(2);
  });

  test('mode report removes sessions of stateless calls only, mode enforce all that are due', () => {
    const rows = [rowOf(`agent:main:${stateless}`, months), rowOf('agent:main:cli:x', months)];
    const removedIn = (mode: string) => {
      const { mainKey, maintenance } = session({ mode });
      return removedSessions(dueSessions(rows, { mainKey, maintenance }, now), maintenance).map(({ rule }) => rule);
    };
    expect([removedIn('report'), removedIn('enforce')]).toEqual([['stateless'], ['stateless', 'age']]);
  });

  test('whatever the settings: what is used, busy or everybody’s stays, nothing is due twice, and the bound holds for the rest', () => {
    const rows = fc.array(
      fc.record({
        name: fc.constantFrom('main', 'global', 'telegram:group:-1', 'cli:a', 'cli:b', 'cli:c', 'hook:x', stateless),
        idleHours: fc.integer({ min: 0, max: 2_000 }),
        status: fc.constantFrom('idle', 'running', 'awaiting_approval', 'inactive'),
      }),
      { maxLength: 12 },
    );
    const settings = fc.record({
      pruneAfterDays: fc.integer({ min: 1, max: 60 }),
      maxSessions: fc.integer({ min: 1, max: 8 }),
      keepRecentHours: fc.integer({ min: 0, max: 48 }),
    });
    fc.assert(
      fc.property(rows, settings, (given, maintenance) => {
        const all = given.map(({ name, idleHours, status }, at) =>
          rowOf(`agent:main:${name}`, idleHours, { status: status as IndexRow['status'], seq: at + 1 }),
        );
        const due = dueSessions(all, session(maintenance), now);
        expect(new Set(due.map(({ row }) => row)).size).toBe(due.length);
        for (const { row } of due) {
          expect(row.key).not.toMatch(/:(main|global|group:-1)$/);
          expect(['idle', 'inactive']).toContain(row.status);
          expect(now - row.interactedAt).toBeGreaterThanOrEqual(Math.min(24, maintenance.keepRecentHours) * hourMs);
        }
        const left = all.filter((row) => due.every((one) => one.row !== row));
        const prunable = left.filter(
          ({ key, status, interactedAt }) =>
            !/:(main|global|group:-1)$/.test(key) &&
            (status === 'idle' || status === 'inactive') &&
            now - interactedAt >= maintenance.keepRecentHours * hourMs,
        );
        expect(left.length <= maintenance.maxSessions || prunable.length === 0).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });
});
