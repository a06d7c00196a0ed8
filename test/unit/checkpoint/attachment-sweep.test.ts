import { expect, test } from 'vitest';
import { AttachmentSweep } from '../../../services/checkpoint/retention/attachment-sweep.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { createLog } from '../../../shared/kit/log.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { commitTo, messageWithFiles } from '../../support/domain/commits.ts';

const key = 'agent:main:cli:a' as SessionKey;
const dayMs = 86_400_000;

/** A session that has said one of its attachments, and a clock that can be put forward. */
const start = async (change: (ports: Ports) => Partial<Ports> = () => ({})) => {
  let ahead = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead, sleep: async () => {} };
  const ports = openInMemory({ clock }).portsFor('checkpoint');
  const [said, forgotten] = [
    await ports.attachments.put(key, Buffer.from('said')),
    await ports.attachments.put(key, Buffer.from('lost')),
  ];
  const events = [messageWithFiles(said)];
  expect((await ports.events.append(commitTo(key, { events }), 0)).kind).toBe('stored');
  const sweep = new AttachmentSweep({ ...ports, ...change(ports) }, createLog({ level: 'silent', name: 'test' }));
  const left = async () => (await ports.attachments.of(key)).map(({ digest }) => digest);
  const run = async (days: number) => {
    ahead = days * dayMs;
    await sweep.run(new AbortController().signal);
    return left();
  };
  return { ports, sweep, run, said, forgotten };
};

/** The log with another way to read a session. */
const withRead = (events: EventLog, read: EventLog['read']): EventLog =>
  new Proxy(events, {
    get: (target, name) => {
      const value = name === 'read' ? read : Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

test('what no message refers to is removed a day later; what one refers to stays', async () => {
  const { run, sweep, said, forgotten } = await start();
  expect(await run(0.9)).toEqual([said, forgotten]);
  expect(await run(1.1)).toEqual([said]);
  expect(sweep.removed).toBe(1);
  expect(await run(30)).toEqual([said]);
});

test('while commands wait nothing is removed: one of them may be its message', async () => {
  const { run, said, forgotten } = await start((ports) => ({ commands: { ...ports.commands, lag: async () => 1 } }));
  expect(await run(2)).toEqual([said, forgotten]);
});

test('what somebody wants to store again is as new, and what was looked at is not read again', async () => {
  let reads = 0;
  const { run, ports, said, forgotten } = await start((own) => ({
    events: withRead(own.events, (...given) => {
      reads += 1;
      return own.events.read(...given);
    }),
  }));
  await run(0.5);
  await ports.attachments.put(key, Buffer.from('lost'));
  expect(await run(1.1)).toEqual([said, forgotten]);
  expect(reads).toBe(1);
  expect(await run(1.6)).toEqual([said]);
  expect(reads).toBe(2);
  await run(3);
  expect(reads).toBe(2);
});

test('a message that a replica does not have yet keeps its file', async () => {
  let stale = 2;
  const { run, said } = await start((own) => ({
    events: withRead(own.events, async function* (...given) {
      if (stale-- <= 0) yield* own.events.read(...given);
    }),
  }));
  expect(await run(1.1)).toEqual([said]);
});

test('a session that cannot be read keeps its files; the others are looked at, and it is tried again', async () => {
  let isBroken = true;
  const other = 'agent:main:cli:b' as SessionKey;
  const { run, ports, said, forgotten } = await start((own) => ({
    events: withRead(own.events, async function* (of, options) {
      if (isBroken && of === key) throw new Error('cannot be read');
      yield* own.events.read(of, options);
    }),
  }));
  await ports.attachments.put(other, Buffer.from('lost'));
  expect(await run(1.1)).toEqual([said, forgotten]);
  expect(await ports.attachments.of(other)).toEqual([]);
  isBroken = false;
  expect(await run(1.2)).toEqual([said]);
});
