import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { startRetention } from '../../../../services/checkpoint/retention/retention.ts';
import { sessionsCommand } from '../../../../services/cli/commands/sessions/sessions.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { createLog } from '../../../../shared/kit/log.ts';
import { natterWith } from '../../../support/natter.ts';
import { afterwards, pathOf, startWorld, token } from '../setup.ts';

const home = mkdtempSync(join(tmpdir(), 'natter-retention-'));
afterAll(() => rmSync(home, { recursive: true }));
const dayMs = 86_400_000;

test('D10: the session of a stateless API call does not stay; one that is named does', async () => {
  let days = 0;
  const clock = { ...systemClock, now: () => Date.now() + days * dayMs };
  const { call, memory } = await startWorld({ clock });
  const completion = { model: 'natter', messages: [{ role: 'user', content: 'hello' }] };
  const { headers, status } = await call('POST', '/v1/chat/completions', { body: completion });
  const key = decodeURIComponent(String(headers['x-natter-session']));
  const named = { 'x-natter-session': 'cli:work' };
  expect([status, (await call('POST', '/v1/chat/completions', { body: completion, headers: named })).status]).toEqual([200, 200]);
  const keys = async () => (await call('GET', '/v1/sessions')).body.sessions.map((row: { key: string }) => row.key).sort();
  await vi.waitFor(async () => expect(await keys()).toEqual([key, 'agent:main:cli:work']));

  days = 2;
  const { session } = configSchema.parse({});
  const log = createLog({ level: 'silent', name: 'test' });
  const retention = startRetention({ ports: memory.portsFor('checkpoint'), log, member: 'one', session });
  afterwards(() => retention.stop(1_000));
  await vi.waitFor(async () => expect(await keys()).toEqual(['agent:main:cli:work']));
  expect((await call('GET', pathOf(key))).status).toBe(404);
  expect((await call('GET', '/v1/audit?kind=session_deleted')).body.records).toMatchObject([{ actor: 'retention', target: key }]);
});

test('B2: natter sessions cleanup shows what would go, and deletes it with its transcripts kept', async () => {
  let days = 0;
  const clock = { ...systemClock, now: () => Date.now() + days * dayMs };
  const { call, gateway } = await startWorld({ clock });
  const natter = (...words: string[]) =>
    natterWith([sessionsCommand], { home, now: clock.now })('--url', gateway.url, '--token', token, 'sessions', ...words);
  for (const sessionKey of ['main', 'cli:work', 'cron:daily'])
    await call('POST', '/v1/rpc', { body: { method: 'agent', params: { sessionKey, message: 'hello', timeoutSeconds: 10 } } });
  await vi.waitFor(async () => expect((await call('GET', '/v1/sessions')).body.sessions).toHaveLength(3));
  expect((await call('GET', '/v1/retention')).body).toMatchObject({
    ...{ mode: 'report', count: 0, due: [] },
    logBytes: { live: expect.any(Number), deleted: 0, unknown: 0 },
  });

  days = 31;
  const shown = await natter('cleanup', '--dry-run');
  expect(shown.split('\n').filter((line) => line.includes('pruneAfterDays'))).toHaveLength(2);
  expect(shown).toMatch(/^cron:daily\s+2\s+31d\s+\d+\.\d kB\s+session\.maintenance\.pruneAfterDays$/m);
  await expect(natter('cleanup')).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('--yes') });
  expect((await call('GET', '/v1/retention')).body.count).toBe(2);

  const archive = join(home, 'archive');
  expect(JSON.parse(await natter('cleanup', '--yes', '--archive', archive, '--json'))).toMatchObject({ count: 2, deleted: 2 });
  await vi.waitFor(async () => expect((await call('GET', '/v1/retention')).body.count).toBe(0));
  const { sessions } = (await call('GET', '/v1/sessions')).body;
  expect(sessions.map((row: { shownKey: string }) => row.shownKey)).toEqual(['main']);
  expect(
    existsSync(archive) && readdirSync(archive, { recursive: true }).filter((name) => String(name).endsWith('.jsonl')),
  ).toHaveLength(2);
});
