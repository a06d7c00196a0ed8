import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { startRetention } from '../../../services/checkpoint/retention/retention.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { openStage } from './rig.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ prefixes: ['retained'] });
});
afterAll(() => server.stop());

test('D10, ADR 19: with the rights of its own user the checkpoint service deletes what is due, on record', async () => {
  const stage = await openStage(server, 'retained', {
    more: { session: { maintenance: { pruneAfterDays: 1, mode: 'enforce' } } },
  });
  const message = { messageId: 'm1', text: 'hello', sender: { id: 'ann' } };
  for (const key of ['agent:main:cli:old', 'agent:main:main'])
    expect(await stage.send(key, { type: 'append_message', sessionId: 's', message }, key)).toBe('accepted');
  const ports = await stage.open('checkpoint');
  const { log, config, commits } = stage;
  const checkpoint = await startCheckpoint({ ports, log, member: 'checkpoint' });
  await vi.waitFor(async () => expect(await ports.index.position()).toBe(2));
  const later = { ...ports, clock: { ...ports.clock, now: () => Date.now() + 2 * 86_400_000 } };
  const retention = startRetention({ ports: later, log, member: 'checkpoint', session: config.session });
  await vi.waitFor(() => expect(retention.metrics?.().retention_runs_total).toBe(1));
  expect(retention.metrics?.()).toMatchObject({ retention_failed_total: 0 });
  const deletions = (await commits()).filter(({ events }) => events.some(({ type }) => type === 'session_deleted'));
  const audit = await (await stage.open('gateway')).audit.page({ limit: 10 });
  await Promise.all([checkpoint.stop(2_000), retention.stop(2_000)]);
  await stage.close();
  expect(deletions.map(({ key, actor }) => `${key} ${actor}`)).toEqual(['agent:main:cli:old retention']);
  expect(audit.records).toMatchObject([
    { kind: 'session_deleted', actor: 'retention', target: 'agent:main:cli:old', outcome: 'ok' },
  ]);
}, 90_000);
