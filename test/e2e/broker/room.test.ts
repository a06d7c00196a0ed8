import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, expect, test, vi } from 'vitest';
import { hasRoom } from '../../../services/cli/broker/room.ts';
import { startServer } from '../../support/nats.ts';
import { mountDisk } from './small-disk.ts';

const megabytes = (count: number): number => count * 1024 ** 2;
const disk = mountDisk(megabytes(200));
afterAll(() => disk?.remove());

test.skipIf(disk === null)(
  'a broker that stores more than is free takes writes after a restart, up to the reserve (F26)',
  async () => {
    if (disk === null) return;
    const server = await startServer({ storeDir: join(disk.path, 'broker') });
    const connection = await connect({ servers: server.url, maxReconnectAttempts: -1 });
    const manager = await jetstreamManager(connection, { checkAPI: false });
    const stored = jetstream(connection, { timeout: 2_000 });
    await manager.streams.add({ name: 'LARGE', subjects: ['large'] });
    const store = () => stored.publish('large', Buffer.alloc(900_000));
    for (let message = 0; message < 66; message++) await store();

    disk.leaveFree(megabytes(40));
    await server.restart();
    await vi.waitFor(store);
    expect(await hasRoom(disk.path)).toBe(true);
    await expect(
      (async () => {
        for (;;) await store();
      })(),
    ).rejects.toMatchObject({ code: 10_023 });
    expect(await hasRoom(disk.path)).toBe(false);
    disk.makeRoom();
    expect(await hasRoom(disk.path)).toBe(true);
    await connection.close();
    await server.stop();
  },
);
