import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { commitTo, freshKey, seenAt } from '../../support/domain/commits.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { provisionFor } from '../../support/system.ts';

const config = configSchema.parse({ nats: { partitions: 2, requestTimeoutMs: 300 } });
let server: TestServer;
let ports: Ports | undefined;
beforeEach(async () => {
  server = await startServer();
});
afterEach(async () => {
  await ports?.close();
  ports = undefined;
  await server.stop();
});

const prepare = async (): Promise<void> => {
  await provisionFor(server, { prefix: config.prefix, partitions: 2 });
};
const open = async (): Promise<Ports> => {
  ports = await openNats(config, { name: 'test', clock: systemClock, servers: server.url });
  return ports;
};
const wellAgain = (opened: Ports) => vi.waitFor(() => expect(opened.problems()).toEqual([]));
/** Appends the first commit of a new key and returns its sequence, or why it was not stored. */
const append = async ({ events }: Ports): Promise<number | string> => {
  const result = await events.append(commitTo(freshKey()), 0);
  return result.kind === 'stored' ? result.seq : `${result.kind}: ${result.kind === 'unknown' ? result.cause : result.message}`;
};

test('all ports work on a provisioned broker', async () => {
  await prepare();
  const opened = await open();
  expect(opened.problems()).toEqual([]);
  expect(await append(opened)).toBe(1);
  expect(await opened.index.position()).toBe(0);
  await opened.cursors.put('test', seenAt(7));
  expect(await opened.cursors.get('test')).toEqual(seenAt(7));
  expect(await opened.commands.lag()).toBe(0);
  expect(await opened.deadLetters.list(1)).toEqual([]);
});

test('ports opened before their broker tell it, and work when it is there and provisioned', async () => {
  await prepare();
  await server.kill9();
  const opened = await open();
  expect(opened.problems().join()).toMatch(/not connected/);
  expect(await append(opened)).toMatch(/^unknown/);
  await server.restart({ empty: true });
  await vi.waitFor(() => expect(opened.problems().join()).toMatch(/has no stream .*NATTER_EVENTS/));
  await prepare();
  await wellAgain(opened);
  expect(await append(opened)).toBe(1);
});

describe('the log never goes back behind a witnessed point (I13)', () => {
  const store = (name = 'store') => join(server.storeDir, name);

  test('after a restart without data nothing is written, though the streams are there again, until the old log is back', async () => {
    await prepare();
    const opened = await open();
    expect(await append(opened)).toBe(1);

    await server.kill9();
    await rename(store(), store('old'));
    await server.restart();
    await prepare();
    expect(await append(opened)).toMatch(/^unknown/);
    await vi.waitFor(() => expect(opened.problems().join()).toMatch(/ends at 0, but had reached 1: writing is stopped/));
    expect(await append(opened)).toMatch(/writing is stopped/);
    expect((await opened.events.info()).lastSeq).toBe(0);

    await server.kill9();
    await rm(store(), { recursive: true });
    await rename(store('old'), store());
    await server.restart();
    await wellAgain(opened);
    expect(await append(opened)).toBe(2);
  });

  test('a log restored from an older copy is refused until it is the newer one', async () => {
    await prepare();
    const opened = await open();
    await append(opened);
    await server.kill9();
    await cp(store(), store('copy'), { recursive: true });
    await server.restart();
    await wellAgain(opened);
    expect(await append(opened)).toBe(2);

    await server.kill9();
    await rm(store(), { recursive: true });
    await rename(store('copy'), store());
    await server.restart();
    await vi.waitFor(() => expect(opened.problems().join()).toMatch(/ends at 1, but had reached 2/));
    expect(await append(opened)).toMatch(/^unknown/);
  });

  test('a log deleted and created anew under a live connection is noticed', async () => {
    await prepare();
    const opened = await open();
    await append(opened);
    const connection = await openConnection({ servers: server.url, name: 'deleter', requestTimeoutMs: 1_000 });
    await (await jetstreamManager(connection)).streams.delete('NATTER_EVENTS');
    await connection.close();
    await prepare();
    await vi.waitFor(() => expect(opened.problems().join()).toMatch(/writing is stopped/));
    expect(await append(opened)).toMatch(/^unknown/);
  });

  test('a log that was empty may be exchanged: nothing is lost', async () => {
    await prepare();
    const opened = await open();
    await server.restart({ empty: true });
    await prepare();
    await wellAgain(opened);
    expect(await append(opened)).toBe(1);
  });
});
