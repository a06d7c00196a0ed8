import { jetstreamManager } from '@nats-io/jetstream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LogGuard } from '../../../shared/adapters/kv/guards/log-guard.ts';
import { createWritersWitness, type WritersWitness } from '../../../shared/adapters/kv/guards/writers-witness.ts';
import { NatsEventLog } from '../../../shared/adapters/nats/log/event-log.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { LogTail } from '../../../shared/adapters/streams/log-tail.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { nothingSeen } from '../../../shared/domain/session/log-witness.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { scrubLog } from '../../../shared/runtime/scrub-log.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { commitTo, freshKey, seenAt } from '../../support/domain/commits.ts';
import { type Stoppable, said, startStoppable, wellAgain } from '../../support/stopped-store.ts';
import { eventStoreOf } from '../../support/streams/event-store.ts';
import { provisionFor } from '../../support/system.ts';

/** What processes that are gone have seen of the log stops those after them (I13): a real broker whose files change while it does not run. */
const config = configSchema.parse({ nats: { partitions: 1, requestTimeoutMs: 1_000 } });
const subjects = subjectsUnder(config.prefix);
let broker: Stoppable;
let store: ReturnType<typeof eventStoreOf>;
beforeEach(async () => {
  broker = await startStoppable(config);
  store = eventStoreOf(broker.server);
});
afterEach(() => broker.server.stop());

/** The log without its guard, and the witness of the writers. */
const openUnguarded = async (): Promise<{ events: EventLog; witness: WritersWitness; remove(seq: number): Promise<unknown> }> => {
  const connection = await broker.connect();
  const manager = await jetstreamManager(connection);
  return {
    events: new NatsEventLog({ connection, subjects, clock: systemClock, requestTimeoutMs: 1_000, tail: new LogTail() }),
    witness: createWritersWitness(await broker.witnesses()),
    remove: (seq) => manager.streams.deleteMessage('NATTER_EVENTS', seq),
  };
};
/** Appends the first commit of a new key and returns its sequence, or why it was not stored. */
const append = async (events: EventLog, id?: string): Promise<number | string> => {
  const result = await events.append(commitTo(freshKey(), id === undefined ? {} : { id }), 0);
  return result.kind === 'stored' ? result.seq : `${result.kind}: ${result.kind === 'unknown' ? result.cause : result.message}`;
};
/** A process writes commits and ends. */
const written = async (...ids: readonly string[]): Promise<void> => {
  const ports = await openNats(config, { name: 'writer', clock: systemClock, servers: broker.server.url });
  for (const id of ids) expect(await append(ports.events, id)).toEqual(expect.any(Number));
  await ports.close();
};
/** Nothing is written, and the log stays as it is. */
const writesNothing = async ({ events }: Ports): Promise<void> => {
  const before = await events.info();
  await expect(events.last(freshKey())).rejects.toMatchObject({ code: 'unavailable' });
  expect(await append(events)).toMatch(/^unknown: .*writing is stopped/);
  expect(await events.info()).toEqual(before);
};

describe('the log is not the one that earlier processes have seen', () => {
  test('an older copy was put back: nothing is written until the newer one is', async () => {
    await written('one');
    await broker.whileStopped(() => store.copyAs('older'));
    await written('two', 'three');
    await broker.whileStopped(async () => {
      await store.copyAs('newer');
      await store.putBack('older');
    });
    const ports = await broker.open();
    expect(ports.problems()).not.toEqual([]);
    await said(ports, /^the event log ends at 1, but had reached 3/);
    await writesNothing(ports);

    await broker.whileStopped(() => store.putBack('newer'));
    await wellAgain(ports);
    expect(await append(ports.events)).toBe(4);
  });

  test('the broker cut its end off, because of one flipped bit', async () => {
    await written('a-first-commit', 'a-second-commit', 'a-third-commit');
    await broker.whileStopped(() => store.flipBitAt('a-second-commit'));
    const ports = await broker.open();
    await said(ports, /^the event log ends at 1, but had reached 3/);
    await writesNothing(ports);
  });

  test('the older copy lacks exactly what was removed from the end since: no place of it is given out again', async () => {
    await written('one');
    await broker.whileStopped(() => store.copyAs('older'));
    await written('two', 'three');
    const { remove } = await openUnguarded();
    for (const seq of [2, 3]) await remove(seq);
    await broker.whileStopped(() => store.putBack('older'));
    const ports = await broker.open();
    await said(ports, /^the event log ends at 1, but had reached 3/);
    await writesNothing(ports);
  });

  test('it is as long as before and has another commit there', async () => {
    await written('one');
    await broker.whileStopped(() => store.copyAs('older'));
    await written('two');
    await broker.whileStopped(() => store.putBack('older'));
    const { events } = await openUnguarded();
    expect(await append(events, 'another')).toBe(2);
    const ports = await broker.open();
    await said(ports, /^the event log was exchanged: 2 is another commit/);
    await writesNothing(ports);
  });

  test('it was created anew', async () => {
    await written('one');
    await broker.whileStopped(() => store.moveAwayAs('old'));
    await provisionFor(broker.server, { partitions: 1 });
    const ports = await broker.open();
    await said(ports, /^the event log ends at 0, but had reached 1/);
    const { events } = await openUnguarded();
    expect(await append(events, 'another')).toBe(1);
    await said(ports, /^the event log was recreated/);
    await writesNothing(ports);
  });

  test('a reader has seen more than the writers could say', async () => {
    await written('one');
    const reader = await broker.open();
    await reader.cursors.put('delivery', seenAt(5));
    const ports = await broker.open();
    await said(ports, /^the event log ends at 1, but had reached 5/);
    await writesNothing(ports);
  });

  test('the whole store, with the witness, was put back under a process that runs: it says so to those after it', async () => {
    const witness = eventStoreOf(broker.server, 'KV_natter_witness');
    await written('one');
    await broker.whileStopped(async () => {
      await store.copyAs('older');
      await witness.copyAs('older');
    });
    const ports = await broker.open();
    for (const id of ['two', 'three']) expect(await append(ports.events, id)).toEqual(expect.any(Number));
    await broker.whileStopped(async () => {
      await store.putBack('older');
      await witness.putBack('older');
    });
    await said(ports, /^the event log ends at 1, but had reached 3/);
    const after = await broker.open();
    await said(after, /^the event log ends at 1, but had reached 3/);
    await writesNothing(after);
  });

  test('a writer that is killed has said how far it came, at most a second ago', async () => {
    const ports = await broker.open();
    await append(ports.events);
    const { witness } = await openUnguarded();
    await vi.waitFor(async () => expect(await witness.read()).toMatchObject({ seq: 1, digest: expect.any(String) }));
  });

  test('counter-test: without the lasting witness the sequences are used again', async () => {
    await written('one');
    await broker.whileStopped(() => store.copyAs('older'));
    await written('two', 'three');
    await broker.whileStopped(() => store.putBack('older'));
    const { events } = await openUnguarded();
    const forgetful = {
      read: async () => ({ ...nothingSeen, accepted: 0 }),
      raise: async () => {},
      reuse: async () => {},
      accept: async () => {},
    };
    const cursors = { all: async () => new Map() };
    const guard = new LogGuard({ events, clock: systemClock, witness: forgetful, cursors });
    expect(await append(guard.guarded())).toBe(2);
  });
});

describe('no false alarm', () => {
  test('C9: the older copy has what an erasure removed since, and all else: writing goes on, and a scrub names the session', async () => {
    const key = freshKey();
    const writer = await broker.open();
    const first = await writer.events.append(commitTo(key), 0);
    if (first.kind !== 'stored') throw new Error(first.kind);
    const from = { sessionId: 's1', generation: 1, epoch: 1, turnIds: [], reason: 'asked for' };
    const erasure = { type: 'session_deleted', v: 1, mode: 'erased', ...from } as const;
    const last = await writer.events.append(commitTo(key, { rev: 2, events: [erasure] }), first.seq);
    expect(last.kind).toBe('stored');
    await broker.whileStopped(() => store.copyAs('not-removed-yet'));
    await (await openUnguarded()).remove(first.seq);
    await broker.whileStopped(() => store.putBack('not-removed-yet'));
    const ports = await broker.open();
    await wellAgain(ports);
    expect(await append(ports.events)).toBe(3);
    const options = { upTo: 3, signal: new AbortController().signal, paced: () => {} };
    expect(await scrubLog(ports.events, options)).toMatchObject({ damages: [], unerased: [key] });
    await (await openUnguarded()).remove(first.seq);
    expect(await scrubLog(ports.events, options)).toMatchObject({ damages: [], unerased: [] });
  });

  test('the last commit was erased, and a log that had nothing was created anew', async () => {
    await broker.whileStopped(() => store.moveAwayAs('empty'));
    await provisionFor(broker.server, { partitions: 1 });
    await written('one', 'two');
    const { remove } = await openUnguarded();
    await remove(2);
    const ports = await broker.open();
    expect(ports.problems()).toEqual([]);
    expect(await append(ports.events)).toBe(3);
  });

  test('the witness is never lowered, and a person alone may replace it', async () => {
    const { witness } = await openUnguarded();
    const seen = (seq: number, accepted: number) => ({ incarnation: 1, seq, digest: `of ${seq}`, accepted });
    await Promise.all([7, 9, 8].map((seq) => witness.raise(seen(seq, 0))));
    expect(await witness.read()).toEqual(seen(9, 0));
    await witness.accept({ incarnation: 2, seq: 5, digest: null });
    await witness.raise(seen(99, 0));
    expect(await witness.read()).toEqual({ incarnation: 2, seq: 5, digest: null, accepted: 1 });
    await witness.raise(seen(6, 1));
    expect(await witness.read()).toEqual(seen(6, 1));
  });
});
