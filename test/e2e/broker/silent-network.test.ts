import { afterEach, expect, test, vi } from 'vitest';
import { commitFenced } from '../../../services/session/host/commit.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { commitTo, freshKey } from '../../support/domain/commits.ts';
import { startServer } from '../../support/nats.ts';
import { provisionFor } from '../../support/system.ts';
import { startSilentNetwork } from './network.ts';

const config = configSchema.parse({ nats: { partitions: 2, requestTimeoutMs: 300 } });
const atEnd: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of atEnd.splice(0).reverse()) await end();
});

test('a network that drops everything without a word: calls end, it is said, and what was in doubt is stored once (F15)', async () => {
  const server = await startServer();
  atEnd.push(() => server.stop());
  await provisionFor(server, { prefix: config.prefix, partitions: 2 });
  const network = await startSilentNetwork(server.port);
  atEnd.push(network.close);
  const open = async (name: string): Promise<Ports> => {
    const opened = await openNats(config, { name, clock: systemClock, servers: `nats://127.0.0.1:${network.port}` });
    atEnd.push(opened.close);
    return opened;
  };
  const ports = await open('there before');
  const key = freshKey();
  const options = { clock: systemClock, patienceMs: 60_000, fencing: true, signal: new AbortController().signal };
  const append = (rev: number, seq: number) => commitFenced(ports.events, commitTo(key, { rev }), seq, options);
  expect(await append(1, 0)).toMatchObject({ kind: 'committed', seq: 1 });
  const stop = new AbortController();
  const read: number[] = [];
  const following = (async () => {
    for await (const { rev } of ports.events.follow({ after: 0, key, signal: stop.signal })) read.push(rev);
  })();
  await vi.waitFor(() => expect(read).toEqual([1]));

  network.fallSilent();
  const inDoubt = append(2, 1);
  await expect(ports.index.position()).rejects.toMatchObject({ code: 'unavailable' });
  expect(await ports.events.append(commitTo(freshKey()), 0)).toMatchObject({ kind: 'unknown' });
  await vi.waitFor(() => expect(ports.problems().some((problem) => problem.stops({ changes: true }))).toBe(true));
  const late = await open('started meanwhile');
  expect(late.problems().join()).toMatch(/not connected/);
  expect(read).toEqual([1]);

  network.heal();
  expect(await inDoubt).toMatchObject({ kind: 'committed' });
  await vi.waitFor(() => expect([ports, late].flatMap((opened) => opened.problems())).toEqual([]));
  const { commits } = await late.events.page({ after: 0, limit: 10, key });
  expect(commits.map(({ rev }) => rev)).toEqual([1, 2]);
  await vi.waitFor(() => expect(read).toEqual([1, 2]));
  stop.abort();
  await following;
});
