import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { MemoryFold, memoryHeadlines } from '../../../services/checkpoint/memory/fold.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { MemoryEntry } from '../../../shared/domain/memory/memory-entry.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { headlineOf } from '../../../shared/domain/session/headline.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { createLog } from '../../../shared/kit/log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { commitTo, keyOf, userMessage } from '../../support/domain/commits.ts';
import { changed, deleted } from '../../support/memories.ts';

/** Time that runs 20 times as fast. */
const clock: Clock = {
  now: systemClock.now,
  monotonic: () => systemClock.monotonic() * 20,
  sleep: (ms, signal) => systemClock.sleep(ms / 20, signal),
};
const services: Service[] = [];
afterEach(() => Promise.all(services.splice(0).map((service) => service.stop(1_000))));

const open = async () => {
  const system = openInMemory({ clock });
  const ports = system.portsFor('test');
  const view = await ports.memory.watch();
  onTestFinished(() => view.close());
  const ends = new Map<SessionKey, { seq: number; rev: number }>();
  const record = async (name: string, ...events: SessionEvent[]): Promise<number> => {
    const key = keyOf(`agent:main:${name}`);
    const { seq: last, rev } = ends.get(key) ?? { seq: 0, rev: 0 };
    const epoch = events.some(({ type }) => type === 'session_deleted') ? 1 : 0;
    const result = await ports.events.append(commitTo(key, { rev: rev + 1, at: last + 1, epoch, events }), last);
    if (result.kind !== 'stored') throw new Error(result.kind);
    ends.set(key, { seq: result.seq, rev: rev + 1 });
    return result.seq;
  };
  const stored = (): MemoryEntry[] => view.list({ scopes: 'all', limit: 100_000 });
  /** What the log says, and the sequence of the last commit that may have a say in it. */
  const folded = async (): Promise<{ entries: MemoryEntry[]; position: number }> => {
    const fold = new MemoryFold();
    let position = 0;
    for (let after = 0, more = true; more; ) {
      const page = await ports.events.page({ after, limit: 100 });
      for (const commit of page.commits) {
        fold.add(commit);
        if (memoryHeadlines.includes(headlineOf(commit.events))) position = commit.seq;
      }
      after = page.commits.at(-1)?.seq ?? after;
      more = page.more;
    }
    return { entries: [...fold.entries()], position };
  };
  return {
    ...{ system, ports, view, record, stored },
    start: async (member: string, change: Partial<Ports> = {}): Promise<Service> => {
      const log = createLog({ level: 'silent', name: member });
      const service = await startCheckpoint({ ports: { ...system.portsFor(member), ...change }, log, member });
      services.push(service);
      return service;
    },
    /** What is stored is what the log says. */
    settled: () =>
      vi.waitFor(
        async () => {
          const { entries, position } = await folded();
          expect(view.position()).toBe(position);
          expect(new Set(stored())).toEqual(new Set(entries));
        },
        { timeout: 10_000 },
      ),
  };
};

const add = (text: string, kind: 'session' | 'agent' = 'session') => changed([{ op: 'add', scope: { kind }, text }]);
const forget = (id: string) => changed([{ op: 'forget', id, reason: 'test' }]);

test('A7/82: what the log says is remembered is there, and what it forgets is not', async () => {
  const { record, start, settled, stored } = await open();
  const first = await record('main', add('one'));
  await start('a');
  await settled();
  await record('other', add('two', 'agent'));
  await record('other', userMessage('nothing to remember'));
  await settled();
  expect(stored().map(({ text }) => text)).toEqual(['two', 'one']);
  await record('main', forget(`${first}-0`));
  await settled();
  expect(stored().map(({ text }) => text)).toEqual(['two']);
});

test('a projection that dies between the entries and the position repeats nothing and loses nothing', async () => {
  const { ports, record, start, settled, system } = await open();
  const memory = system.portsFor('dying').memory;
  const dying = vi.fn();
  const broken: Ports['memory'] = {
    ...memory,
    // The entries are written, the position is not.
    put: async (news, position) => {
      dying(position);
      await memory.put(news, await ports.memory.position());
      throw new Error('killed');
    },
  };
  const first = await record('main', add('one'), add('two'));
  const service = await start('dying', { memory: broken });
  await vi.waitFor(() => expect(dying).toHaveBeenCalled());
  await record('main', forget(`${first}-0`), add('three'));
  await service.stop(1_000);
  await start('next');
  await settled();
});

test('made anew from the log it is the same, also where a session was erased since', async () => {
  const { ports, record, start, settled, stored, system, view } = await open();
  await start('a');
  const ids: string[] = [];
  for (let number = 0; number < 20; number++) ids.push(`${await record(`s${number % 4}`, add(`fact ${number}`, 'agent'))}-0`);
  await record('s1', forget(ids[0] ?? ''), changed([{ op: 'update', id: ids[2] ?? '', text: 'changed in s1' }]));
  await settled();
  const erased = await record('s1', deleted('erased'));
  await settled();
  expect(stored().some(({ text }) => text === 'changed in s1')).toBe(false);
  const { memories } = await system.eraser.erase(keyOf('agent:main:s1'), erased);
  // Its own five and the one that it changed; what it only forgot said nothing of it.
  expect(memories).toBe(6);
  const before = stored();
  expect(before).toHaveLength(13);
  await ports.memory.reset();
  await vi.waitFor(() => expect(view.position()).toBe(0));
  await vi.waitFor(async () => expect(view.position()).toBe((await ports.events.info()).lastSeq));
  expect(stored()).toEqual(before);
});

test('C9: a deleted session takes what was its own with it, an erased one all that came from it', async () => {
  const { record, start, settled, stored } = await open();
  await start('a');
  await record('main', add('of the session'), add('of the agent', 'agent'));
  await record('other', add('of another'));
  await record('main', deleted('session'));
  await settled();
  expect(stored().map(({ text }) => text)).toEqual(['of another', 'of the agent']);
  await record('main', deleted('erased'));
  await settled();
  expect(stored().map(({ text }) => text)).toEqual(['of another']);
});

test('two at once come to the same as one', async () => {
  const { record, start, settled } = await open();
  // Both believe that they hold the lease.
  const leases: Ports['leases'] = { hold: async (_, __, signal, work) => work(signal) };
  await Promise.all([start('a', { leases }), start('b', { leases })]);
  for (let number = 0; number < 30; number++) await record(`s${number % 3}`, add(`fact ${number}`));
  await settled();
});
