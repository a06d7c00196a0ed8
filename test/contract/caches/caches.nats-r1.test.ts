import { expect, onTestFinished, test, vi } from 'vitest';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import type { CustodyRecord } from '../../../shared/ports/custody-log.ts';
import { openNatsCaches } from '../../support/caches.ts';
import { commitTo, freshKey, recorded } from '../../support/domain/commits.ts';
import { startServer } from '../../support/nats.ts';
import { cachesContract } from './caches.contract.ts';

const open = async () => {
  const server = await startServer();
  const broker = await openNatsCaches(server.url, 1);
  const close = async (): Promise<void> => {
    await broker.close();
    await server.stop();
  };
  return { ...broker, server, close };
};

cachesContract('caches on one server', open);

const rowAt = (key = freshKey(), seq = 1) => summarize(null, recorded(commitTo(key), seq));

test('I9: a custody record whose acknowledgement did not come in time is found, not written again', async () => {
  const { host, server, close } = await open();
  onTestFinished(close);
  const [{ custody }, other, target] = [await host(), await host(), { channel: 'terminal', to: 'me' }];
  const record: CustodyRecord = {
    v: 1,
    outboundId: '7.0',
    outboundSeq: 7,
    key: freshKey(),
    target,
    state: 'sending',
    attempt: 1,
    at: 1,
  };
  const before = await custody.append({ ...record, state: 'prepared' }, 0);
  const silent = () => expect(other.custody.last(target)).rejects.toMatchObject({ code: 'unavailable' });
  await server.pause();
  const appended = custody.append(record, before ?? 0);
  await silent();
  server.resume();
  expect(await appended).toBe((before ?? 0) + 1);
  expect(await other.custody.last(target)).toEqual({ record, seq: (before ?? 0) + 1 });
});

test('a view and a lease outlive the death of the broker', async () => {
  const { host, server, close } = await open();
  onTestFinished(close);
  const [{ index, leases }, row] = [await host(), rowAt()];
  const view = await index.watch();
  const [stop, works] = [new AbortController(), vi.fn()];
  const held = leases.hold('role', 'a', stop.signal, async (until) => {
    works(true);
    await vi.waitFor(() => expect(until.aborted).toBe(true));
    works(false);
  });
  await vi.waitFor(() => expect(works).toHaveBeenLastCalledWith(true));
  await server.kill9();
  await vi.waitFor(() => expect(works).toHaveBeenLastCalledWith(false));
  await server.restart();
  await vi.waitFor(() => expect(works).toHaveBeenLastCalledWith(true));
  await vi.waitFor(() => index.put([row], 1));
  await vi.waitFor(() => expect(view.get(row.key)).toEqual(row));
  stop.abort();
  await Promise.all([held, view.close()]);
});
