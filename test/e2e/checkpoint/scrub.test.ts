import { randomUUID } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { scrubNow } from '../../../services/cli/doctor/chains.ts';
import type { World } from '../../../services/cli/terminal.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { openStage } from './rig.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ prefixes: ['scrubbed'] });
});
afterAll(() => server.stop());

const world = { terminal: { progress: () => {} }, interrupted: new AbortController().signal } as unknown as World;
const scrub = configSchema.parse({ scrub: { everyHours: 0, megabytesPerSecond: 1_000 } }).scrub;

test('I3, F13: a commit that is taken out of the store is found in the background and by the doctor, and the other sessions are whole', async () => {
  const prefix = 'scrubbed';
  const stage = await openStage(server, prefix);
  const { log, config } = stage;
  const message = (id: string) =>
    ({ type: 'append_message', sessionId: 's', message: { messageId: id, text: 'hello', sender: { id: 'ann' } } }) as const;
  for (const key of ['agent:main:ann', 'agent:main:bob'])
    for (const id of ['1', '2', '3']) expect(await stage.send(key, message(`${key}-${id}`), `${key}-${id}`)).toBe('accepted');
  const checkpoint = await startCheckpoint({ ports: await stage.open('checkpoint'), log, member: 'checkpoint', scrub });
  await vi.waitFor(() => expect(checkpoint.metrics().scrub_runs_total).toBeGreaterThan(0));
  expect(checkpoint.warnings?.()).toEqual([]);
  expect(await scrubNow(config, server.as('operator'), world)).toMatchObject({
    level: 'ok',
    detail: expect.stringContaining('2 sessions'),
  });

  const lost = (await stage.commits()).find(({ key, rev }) => key === 'agent:main:ann' && rev === 2);
  const connection = await connect({ servers: server.url });
  await (await jetstreamManager(connection)).streams.deleteMessage('SCRUBBED_EVENTS', lost?.seq ?? 0);
  await connection.close();

  await vi.waitFor(() => expect(checkpoint.warnings?.()).toEqual([expect.stringContaining('1 session is damaged')]));
  expect(await scrubNow(config, server.as('operator'), world)).toMatchObject({
    level: 'fail',
    detail: expect.stringMatching(/^1 of 2 sessions is damaged: agent:main:ann: missing at sequence \d+ \(rev 3\)$/),
  });
  // The host has had it in memory all the time.
  await vi.waitFor(async () => expect(await stage.send('agent:main:ann', message('late'), randomUUID())).toBe('refused'), 10_000);
  expect(await stage.send('agent:main:bob', message('also late'), 'bob-late')).toBe('accepted');
  await checkpoint.stop(2_000);
  await stage.close();
}, 90_000);
