import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startRetention } from '../../../services/checkpoint/retention/retention.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { createLog } from '../../../shared/kit/log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { startMiniHost } from '../../support/mini-host.ts';

const dayMs = 86_400_000;
const old = 'agent:main:cli:old' as SessionKey;
const recent = 'agent:main:cli:recent' as SessionKey;
const once = `agent:main:api:openai-${'a'.repeat(22)}` as SessionKey;

/** A session unused for 40 days, one in use, and one of a stateless call; and what maintenance makes of them. */
const openRetention = async (
  maintenance: object,
  change: (ports: Ports, said: (key: SessionKey, days: number) => Promise<void>) => Partial<Ports> = () => ({}),
) => {
  const memory = openInMemory({ clock: systemClock });
  const hostPorts = memory.portsFor('host');
  const host = await startMiniHost(hostPorts);
  const ports = memory.portsFor('checkpoint');
  let commands = 0;
  const done = async (key: SessionKey, data: SessionCommand, at = Date.now()): Promise<void> => {
    commands += 1;
    const id = `command-${commands}`;
    const answer = ports.answers.wait(id, 5_000);
    const envelope = { id, key, at, correlationId: id, causationId: id, actor: 'test', data };
    await ports.commands.publish({ ...envelope, answerTo: ports.answers.address });
    expect((await answer)?.outcome).toBe('accepted');
  };
  const said = (key: SessionKey, days: number): Promise<void> => {
    const message = { messageId: `m${commands}`, text: `words of ${key}`, sender: { id: '1' } };
    return done(key, { type: 'append_message', sessionId: 's1', message }, Date.now() - days * dayMs);
  };
  await said(old, 40);
  await said(once, 2);
  await said(recent, 1);
  const { session } = configSchema.parse({ session: { maintenance } });
  const service = startRetention({
    ports: { ...ports, ...change(ports, said) },
    log: createLog({ level: 'silent', name: 'test' }),
    member: 'one',
    session,
  });
  onTestFinished(async () => {
    await service.stop(1_000);
    await host.close();
  });
  const deleted = () => [old, once, recent].filter((key) => host.state(key).machine.context.deleted);
  const hasRun = () => vi.waitFor(() => expect(service.metrics?.().retention_runs_total).toBe(1), { interval: 10 });
  return { ports, service, said, deleted, hasRun };
};
const auditOf = async ({ audit }: Pick<Ports, 'audit'>) =>
  (await audit.page({ limit: 10 })).records.map(({ kind, actor, target, outcome }) => `${kind} ${actor} ${target} ${outcome}`);

test('D10: by default only the session of a stateless call is deleted, on record; what else is due is counted', async () => {
  const { ports, service, deleted, hasRun } = await openRetention({});
  await hasRun();
  expect(deleted()).toEqual([once]);
  expect(await auditOf(ports)).toEqual([`session_deleted retention ${once} ok`]);
  expect(service.metrics?.()).toMatchObject({ retention_due_sessions: 2, retention_deleted_total: 1, retention_failed_total: 0 });
});

test('B1, B2: enforced, what is due is deleted, and its transcript is in the archive', async () => {
  const archiveDir = mkdtempSync(join(tmpdir(), 'natter-archive-'));
  onTestFinished(() => rmSync(archiveDir, { recursive: true, force: true }));
  const { deleted, hasRun } = await openRetention({ mode: 'enforce', archiveDir });
  await hasRun();
  expect(deleted()).toEqual([old, once]);
  const files = readdirSync(archiveDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));
  const texts = files.map((name) => readFileSync(join(archiveDir, name), 'utf8')).join('');
  expect([files.length, texts.includes(`words of ${old}`), texts.includes(`words of ${recent}`)]).toEqual([2, true, false]);
});

test('B1: a session that is used between the look and the deletion stays', async () => {
  const { ports, deleted, service } = await openRetention({ mode: 'enforce', statelessIdleMinutes: 0 }, ({ audit }, said) => ({
    audit: {
      page: audit.page.bind(audit),
      append: async (record) => {
        if (record.outcome === 'ok') await said(old, 0);
        await audit.append(record);
      },
    },
  }));
  await vi.waitFor(async () => expect(await auditOf(ports)).toContain(`session_deleted retention ${old} failed`));
  expect(deleted()).toEqual([]);
  expect(service.metrics?.()).toMatchObject({ retention_deleted_total: 0 });
});

test('B1: without its audit record or its archive nothing is deleted', async () => {
  const append = async () => {
    throw new NatterError('unavailable', 'the audit trail cannot be written');
  };
  const unrecorded = await openRetention({ mode: 'enforce' }, ({ audit }) => ({
    audit: { page: audit.page.bind(audit), append },
  }));
  await unrecorded.hasRun();
  const unarchived = await openRetention({ mode: 'enforce', archiveDir: '/dev/null/archive' });
  await unarchived.hasRun();
  for (const { deleted, service } of [unrecorded, unarchived]) {
    expect(deleted()).toEqual([]);
    expect(service.metrics?.()).toMatchObject({ retention_failed_total: 2, retention_deleted_total: 0 });
  }
});
