import { setImmediate as nextTurn } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterEach, expect, test, vi } from 'vitest';
import { failureOf } from '../../../shared/adapters/nats/client/broker-errors.ts';
import {
  type Connections,
  closeConnection,
  openConnection,
  openConnections,
} from '../../../shared/adapters/nats/client/connection.ts';
import { ReplyInbox } from '../../../shared/adapters/nats/client/reply-inbox.ts';
import { startServer, type TestServer } from '../../support/nats.ts';

let server: TestServer | undefined;
let connections: Connections | undefined;
afterEach(async () => {
  await connections?.close();
  await server?.stop();
  server = undefined;
  connections = undefined;
});

const open = (servers: string): Promise<Connections> => openConnections({ servers, name: 'test', requestTimeoutMs: 300 });

test('a service may start before its broker: calls fail as unavailable, subscriptions wait, and all works when it is there', async () => {
  const early = await startServer();
  const { port } = early;
  await early.stop();
  const opened = await open(`nats://127.0.0.1:${port}`);
  connections = opened;
  expect(opened.problems().join()).toMatch(/not connected/);
  const manager = await jetstreamManager(opened.commits, { checkAPI: false, timeout: 300 });
  expect(failureOf(await manager.streams.info('NONE').catch((error: unknown) => error))).toBe('unknown');
  const heard: string[] = [];
  opened.consumers.subscribe('hello', { callback: (_error, message) => void heard.push(message.string()) });

  server = await startServer({ port });
  await vi.waitFor(() => expect(opened.problems()).toEqual([]));
  await opened.consumers.flush();
  opened.commits.publish('hello', 'world');
  await vi.waitFor(() => expect(heard).toEqual(['world']));
  expect(failureOf(await manager.streams.info('NONE').catch((error: unknown) => error))).toBe('missing');
});

/** Longer than a client tries that is told nothing else. */
const attemptsInVain = 13;

test('F15: a connection outlives the kill and the restart of its broker, however long it tries in vain', async () => {
  const started = await startServer();
  server = started;
  const opened = await open(started.url);
  connections = opened;
  await vi.waitFor(() => expect(opened.problems()).toEqual([]));
  let attempts = 0;
  const counting = (async () => {
    for await (const { type } of opened.commits.status()) if (type === 'reconnecting') attempts++;
  })();
  await started.kill9();
  await vi.waitFor(() => expect(opened.problems()).not.toEqual([]));
  await vi.waitFor(() => expect(attempts).toBeGreaterThan(attemptsInVain));
  await started.restart();
  await vi.waitFor(() => expect(opened.problems()).toEqual([]));
  await opened.close();
  await counting;
});

test('a server without JetStream is of no use alone; in a cluster, where a full disk has turned its own off, the others answer through it', async () => {
  const configuration = 'jetstream: disabled';
  const alone = await startServer({ configuration });
  server = alone;
  const opened = await open(alone.url);
  connections = opened;
  await vi.waitFor(() => expect(opened.problems().map(String).join()).toContain('runs without JetStream'));
  await opened.close();
  await alone.stop();

  const one = await startServer({ configuration, arguments: ['--cluster_name', 'three', '--cluster', 'nats://127.0.0.1:-1'] });
  server = one;
  const inCluster = await open(one.url);
  connections = inCluster;
  await inCluster.commits.flush();
  expect(inCluster.problems()).toEqual([]);
});

test('closing a connection that never got through ends at once', async () => {
  const opened = await open('nats://127.0.0.1:1');
  const started = performance.now();
  await opened.close();
  expect(performance.now() - started).toBeLessThan(3_000);
  expect(opened.problems().join()).toMatch(/closed/);
});

test('a process that stalls reads what has arrived before it calls the broker silent', async () => {
  const server = await startServer();
  const connection = await openConnection({ servers: server.url, name: 'stalling', requestTimeoutMs: 1_000 });
  const stalls = async (inbox: ReplyInbox, subject: string): Promise<unknown> => {
    const asked = inbox.ask(subject, '', { timeoutMs: 100 });
    // Now it is on its way, and no answer has been read.
    await nextTurn();
    const until = performance.now() + 300;
    while (performance.now() < until);
    return asked;
  };
  const inbox = new ReplyInbox(connection);
  connection.subscribe('silent', { callback: () => {} });
  await expect(stalls(inbox, '$JS.API.INFO')).resolves.toHaveProperty('limits');
  await expect(stalls(inbox, 'silent')).rejects.toThrow('timeout');
  await closeConnection(connection);
  await server.stop();
});
