import { afterEach, describe, expect, test, vi } from 'vitest';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { createProjection } from '../../../services/checkpoint/session-index/projection.ts';
import { seededRandom } from '../../../shared/adapters/in-memory/faults.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { createLog } from '../../../shared/kit/log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { VirtualClock } from '../../sim/world/virtual-clock.ts';
import { assistantMessage, commitTo, keyOf, seenAt, turnStarted, userMessage } from '../../support/domain/commits.ts';

/** Time that runs 20 times as fast: leases and pauses of seconds are tests of milliseconds. */
const clock: Clock = {
  now: systemClock.now,
  monotonic: () => systemClock.monotonic() * 20,
  sleep: (ms, signal) => systemClock.sleep(ms / 20, signal),
};

const services: Service[] = [];
afterEach(() => Promise.all(services.splice(0).map((service) => service.stop(1_000))));

const open = (time = clock) => {
  const system = openInMemory({ clock: time });
  const ports = system.portsFor('test');
  const ends = new Map<SessionKey, { seq: number; rev: number }>();
  return {
    system,
    ports,
    start: async (member: string, change: Partial<Ports> = {}): Promise<Service> => {
      const log = createLog({ level: 'silent', name: member });
      const service = await startCheckpoint({ ports: { ...system.portsFor(member), ...change }, log, member });
      services.push(service);
      return service;
    },
    /** Appends a commit to a session. */
    commit: async (name: string, kind = 0): Promise<number> => {
      const key = keyOf(`agent:main:${name}`);
      const { seq: last, rev } = ends.get(key) ?? { seq: 0, rev: 0 };
      const message = userMessage(`${name} ${rev + 1}`);
      const events = [[message], [message, turnStarted()], [assistantMessage('yes')]][kind] ?? [message];
      const result = await ports.events.append(commitTo(key, { rev: rev + 1, at: last + 1, events }), last);
      if (result.kind !== 'stored') throw new Error(result.kind);
      ends.set(key, { seq: result.seq, rev: rev + 1 });
      return result.seq;
    },
    /** What the index has to be: a fold of the whole log. */
    folded: async (): Promise<IndexRow[]> => {
      const rows = new Map<SessionKey, IndexRow>();
      for (let after = 0, more = true; more; ) {
        const page = await ports.events.page({ after, limit: 100 });
        for (const commit of page.commits) rows.set(commit.key, summarize(rows.get(commit.key) ?? null, commit));
        after = page.commits.at(-1)?.seq ?? after;
        more = page.more;
      }
      return [...rows.values()];
    },
    indexed: async (rows: readonly IndexRow[]) => Promise.all(rows.map(({ key }) => ports.index.get(key))),
  };
};
const eventually = (check: () => unknown) => vi.waitFor(check, { interval: 5 });

describe('the session index', () => {
  test('equals a fold of the log, whoever works on it and however often they are replaced', async () => {
    const random = seededRandom(7);
    const { ports, start, commit, folded, indexed } = open();
    let service = await start('one');
    let last = 0;
    for (let index = 0; index < 600; index++) {
      last = await commit(`s${Math.floor(random() * 40)}`, Math.floor(random() * 3));
      if (index % 150 === 149) {
        const next = await start(`next-${index}`);
        await service.stop(2_000);
        service = next;
      }
    }
    await eventually(async () => expect(await ports.index.position()).toBe(last));
    const rows = await folded();
    expect(rows.length).toBe(40);
    expect(await indexed(rows)).toEqual(rows);
  });

  test('has the first change after a pause at once', async () => {
    const { ports, start, commit } = open();
    const service = await start('one');
    await eventually(() => expect(service.metrics().active).toBe(1));
    const startedAt = clock.monotonic();
    const seq = await commit('a');
    await vi.waitFor(async () => expect(await ports.index.position()).toBe(seq), { interval: 1 });
    expect(clock.monotonic() - startedAt).toBeLessThan(5_000);
    expect(service.metrics()).toMatchObject({ commits_total: 1, rows_written_total: 1, position: seq, lag: 0 });
  });

  test('has a row of a busy session at most every 250 ms, and the last one always', async () => {
    const time = new VirtualClock(0);
    const { ports, start, commit, folded, indexed } = open(time);
    const service = await start('one');
    await time.pass(1_000);
    let last = 0;
    for (let turn = 0; turn < 100; turn++) {
      last = await commit('busy', turn % 3);
      await time.pass(10);
    }
    expect(service.metrics().rows_written_total).toBeGreaterThan(2);
    expect(service.metrics().rows_written_total).toBeLessThanOrEqual(5);
    await time.pass(1_000);
    expect(await ports.index.position()).toBe(last);
    const rows = await folded();
    expect(await indexed(rows)).toEqual(rows);
    void service.stop(1_000);
    await time.pass(2_000);
  });

  test('is written by one of two, and the other takes over', async () => {
    const { ports, start, commit } = open();
    const both = [await start('one'), await start('two')];
    const first = await commit('a');
    await eventually(async () => expect(await ports.index.position()).toBe(first));
    expect(both.map((service) => service.metrics().active).sort()).toEqual([0, 1]);
    await both.find((service) => service.metrics().active === 1)?.stop(2_000);
    const second = await commit('a');
    await eventually(async () => expect(await ports.index.position()).toBe(second));
    expect(both.map((service) => service.metrics().commits_total).sort()).toEqual([1, 1]);
  });

  test('begins again at its own position when a write fails, and skips nothing', async () => {
    const { system, ports, start, commit, folded, indexed } = open();
    const index = system.portsFor('one').index;
    let failures = 2;
    const put: Ports['index']['put'] = async (rows, position) => {
      if (failures-- > 0) throw new Error('the bucket is away');
      await index.put(rows, position);
    };
    const service = await start('one', { index: { ...index, put } });
    await commit('a');
    const last = await commit('b');
    await eventually(async () => expect(await ports.index.position()).toBe(last));
    const rows = await folded();
    expect(await indexed(rows)).toEqual(rows);
    await eventually(() => expect(service.problems()).toEqual([]));
  });

  test.each([
    ['ends before its position', async (ports: Ports) => ports.index.put([], 99), /ends at 1/],
    [
      'was recreated',
      async (ports: Ports) => ports.cursors.put('checkpoint-index', { ...seenAt(1), incarnation: 99 }),
      /recreated/,
    ],
  ])('is not touched when the log %s, and says so (I13)', async (_, spoil, problem) => {
    const { ports, start, commit } = open();
    await commit('a');
    await spoil(ports);
    const before = await ports.index.position();
    const service = await start('one');
    await eventually(() => expect(service.problems().join()).toMatch(problem));
    expect(await ports.index.position()).toBe(before);
    expect(await ports.index.get(keyOf('agent:main:a'))).toBeNull();
  });
});

describe('the projection', () => {
  test.each([
    ['does not join up', 2, {}],
    ['an older version wrote without its size (B1)', 3, { logBytes: undefined }],
    ['an older version wrote without its first words', 3, { firstWords: undefined }],
  ])('does not believe a stored row that %s: it folds the log', async (_, stored, missing) => {
    const { ports, commit, folded } = open();
    for (let index = 0; index < 4; index++) await commit('a', index % 3);
    const [row] = await folded();
    const { commits } = await ports.events.page({ after: 0, limit: 10 });
    const stale = commits.slice(0, stored).reduce<IndexRow | null>(summarize, null);
    if (stale !== null) Object.assign(stale, missing);
    const written: IndexRow[] = [];
    const index = { get: async () => stale, put: async (rows: readonly IndexRow[]) => void written.push(...rows) };
    const projection = createProjection({ ...ports, index, after: 3 });
    await projection.fold(commits[3]!);
    await projection.flush();
    expect(written).toEqual([row]);
  });

  test.each([0, 1])(
    'takes a commit after one that was lost before it was read, with %i commits before that in the index (F13)',
    async (read) => {
      const { system, ports, commit } = open();
      for (let index = 0; index < 3; index++) await commit('a');
      const { commits } = await ports.events.page({ after: 0, limit: 10 });
      system.events.kept.lose(2);
      await ports.index.put(
        commits.slice(0, read).map((first) => summarize(null, first)),
        2,
      );
      const projection = createProjection({ ...ports, after: 2 });
      await projection.fold(commits[2]!);
      await projection.flush();
      expect(await ports.index.get(keyOf('agent:main:a'))).toMatchObject({ seq: 3, rev: 3, messageCount: 2 });
    },
  );

  test('goes on with the newest row it knows while an older one is on its way out', async () => {
    const { ports, commit, folded } = open();
    for (let index = 0; index < 3; index++) await commit('a');
    const { commits } = await ports.events.page({ after: 0, limit: 10 });
    let release = () => {};
    const written: IndexRow[] = [];
    const index = {
      get: async () => null,
      put: async (rows: readonly IndexRow[]) => {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        written.push(...rows);
      },
    };
    const projection = createProjection({ ...ports, index, after: 0 });
    await projection.fold(commits[0]!);
    const flushing = projection.flush();
    await projection.fold(commits[1]!);
    await projection.fold(commits[2]!);
    release();
    await flushing;
    expect(projection.written()).toBe(1);
    const flushed = projection.flush();
    release();
    await flushed;
    expect(written.at(-1)).toEqual((await folded())[0]);
    expect(projection.isDirty()).toBe(false);
  });
});
