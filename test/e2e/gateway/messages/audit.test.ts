import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { startGateway } from '../../../../services/gateway/main.ts';
import type { Fault } from '../../../../shared/adapters/in-memory/faults.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { auditKinds } from '../../../../shared/domain/access/audit.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { StoredAudit } from '../../../../shared/ports/audit-log.ts';
import { fixed } from '../../../../shared/runtime/config/reload.ts';
import { startMiniHost } from '../../../support/mini-host.ts';
import { bytesOf, names, openGateway } from '../access/access-rig.ts';
import { afterwards, callerOf, pathOf, ready, startWorld, token } from '../setup.ts';

const key = 'agent:main:main';

/** A gateway whose trail can be made to fail, with what it logs and what it has recorded. */
const startAudited = async () => {
  let fault: Fault = 'none';
  const audit = {
    next: (call: string) => ({ fault: call === 'append' ? fault : 'none', delayMs: 0, lateMs: 0, behind: 0 }) as const,
  };
  const memory = openInMemory({ clock: systemClock, faults: { audit } });
  const host = await startMiniHost(memory.portsFor('host'));
  afterwards(() => host.close());
  const [output, ports] = [new PassThrough(), memory.portsFor('gateway')];
  const heard = new Set<(keys: readonly string[]) => void>();
  const config = {
    ...fixed(configSchema.parse({ gateway: { port: 0 } })),
    changes: (listener: (keys: readonly string[]) => void) => {
      heard.add(listener);
      return () => heard.delete(listener);
    },
  };
  const gateway = await startGateway({ config, ports, log: pino({ level: 'info' }, output), token, version: '0' });
  afterwards(() => gateway.stop(1_000));
  const admin = callerOf(gateway.url);
  await ready(admin);
  const recorded = async (): Promise<StoredAudit[]> => (await ports.audit.page({ after: 0, limit: 100 })).records;
  return {
    ...{ gateway, admin, recorded, heard, log: () => String(output.read()) },
    fail: (next: Fault) => {
      fault = next;
    },
  };
};

describe('what is recorded', () => {
  test('I8: who did what, from where, and never a secret or what was said', async () => {
    const { admin, gateway, recorded, heard, log } = await startAudited();
    const { body: made } = await admin('POST', '/v1/tokens', { body: { role: 'channel', namespace: 'irc', label: 'my label' } });
    await callerOf(gateway.url, 'a-wrong-token')('GET', '/v1/sessions');
    const { body: reader } = await admin('POST', '/v1/tokens', { body: { role: 'read-only' } });
    await callerOf(gateway.url, reader.token)('POST', pathOf(key, '/stop'));
    const { body: rotated } = await admin('POST', `/v1/tokens/${made.id}/rotate`);
    await admin('DELETE', `/v1/tokens/${made.id}`);
    await admin('DELETE', '/v1/tokens/nothing.natter_secret');
    await admin('POST', pathOf(key, '/messages?wait=5'), { body: { text: 'words that were said' } });
    const { body: forked } = await admin('POST', pathOf(key, '/fork'), { body: { reason: 'on a new path' } });
    const { body: reset } = await admin('POST', pathOf(key, '/reset'), { body: { reason: 'tidying up' } });
    await admin('POST', pathOf(key, '/messages?wait=5'), { body: { text: '/new' } });
    const { body: deleted } = await admin('DELETE', pathOf(key, '?mode=key'));
    for (const listener of heard) listener(['log.level', 'gateway.tokens.ann']);
    const address = '127.0.0.1';
    const byAdmin = { actor: 'token:api', address };
    await vi.waitFor(async () => expect((await recorded()).at(-1)?.kind).toBe('config_reloaded'));
    expect(await recorded()).toMatchObject(
      [
        { kind: 'token_created', ...byAdmin, target: made.id, outcome: 'ok', detail: 'role: channel, namespace: irc' },
        { kind: 'authentication_failed', actor: '', outcome: 'refused', address, count: 1 },
        { kind: 'token_created', ...byAdmin, target: reader.id, detail: 'role: read-only' },
        { kind: 'access_denied', actor: `token:${reader.id}`, outcome: 'refused', address, detail: /stop, method: POST/ },
        { kind: 'token_rotated', ...byAdmin, target: made.id, outcome: 'ok' },
        { kind: 'token_revoked', ...byAdmin, target: made.id, outcome: 'ok' },
        { kind: 'token_revoked', ...byAdmin, target: 'no id of a token', outcome: 'ok' },
        { kind: 'token_revoked', ...byAdmin, target: 'no id of a token', outcome: 'failed', detail: 'problem: not_found' },
        {
          kind: 'session_forked',
          ...byAdmin,
          target: key,
          detail: /^commit: \d+, reason: on a new path$/,
          commitSeq: forked.seq,
        },
        { kind: 'session_reset', ...byAdmin, target: key, detail: 'reason: tidying up', commitSeq: reset.seq },
        { kind: 'session_reset', ...byAdmin, target: key, detail: 'reason: /new' },
        { kind: 'session_deleted', ...byAdmin, target: key, detail: /^mode: key, reason: /, commitSeq: deleted.seq },
        { kind: 'config_reloaded', actor: 'system', detail: 'keys: log.level gateway.tokens.ann' },
      ].map((one) => (one.detail instanceof RegExp ? { ...one, detail: expect.stringMatching(one.detail) } : one)),
    );
    const all = JSON.stringify(await recorded()) + log();
    for (const secret of [token, made.token, rotated.token, reader.token, 'a-wrong-token', 'natter_secret', 'words that'])
      expect(all).not.toContain(secret);
  });

  test('I11: a flood of strangers is two records, the second with how many, and streams of one caller are their own', async () => {
    const { gateway, admin, recorded } = await startAudited();
    const { body: reader } = await admin('POST', '/v1/tokens', { body: { role: 'read-only' } });
    const stranger = callerOf(gateway.url, 'a-wrong-token');
    for (let call = 0; call < 50; call++) await stranger('GET', '/v1/sessions');
    for (let call = 0; call < 3; call++) await callerOf(gateway.url, reader.token)('POST', pathOf(key, '/stop'));
    await gateway.stop(1_000);
    const counts = (await recorded()).flatMap(({ kind, count }) => (count === undefined ? [] : [[kind, count]]));
    expect(counts).toEqual([
      ['authentication_failed', 1],
      ['access_denied', 1],
      ['authentication_failed', 49],
      ['access_denied', 2],
    ]);
  });
});

describe('a trail that cannot be written', () => {
  test.each(['unavailable', 'request_lost', 'answer_lost'] as const)('no token is made or taken back: %s', async (fault) => {
    const { admin, gateway, fail } = await startAudited();
    const { body: made } = await admin('POST', '/v1/tokens', { body: { role: 'read-only' } });
    fail(fault);
    const refused = [
      await admin('POST', '/v1/tokens', { body: { role: 'owner' } }),
      await admin('POST', `/v1/tokens/${made.id}/rotate`),
      await admin('DELETE', `/v1/tokens/${made.id}`),
    ];
    for (const { status, body, headers } of refused)
      expect([status, body.code, headers['retry-after'] !== undefined]).toEqual([503, 'unavailable', true]);
    expect((await admin('GET', '/v1/tokens')).body.tokens).toMatchObject([{ id: made.id, status: 'active' }]);
    expect((await callerOf(gateway.url, made.token)('GET', '/v1/sessions')).status).toBe(200);
    fail('none');
    expect((await admin('DELETE', `/v1/tokens/${made.id}`)).status).toBe(200);
  });

  test('all else goes on, and is warned of', async () => {
    const { admin, gateway, fail, log } = await startAudited();
    await admin('POST', pathOf(key, '/messages?wait=5'), { body: { text: 'hello' } });
    fail('unavailable');
    expect((await callerOf(gateway.url, 'wrong')('GET', '/v1/sessions')).status).toBe(401);
    expect((await admin('DELETE', pathOf(key, '?mode=key'))).status).toBe(200);
    const text = log();
    expect(text).toContain('the audit trail could not be written');
    expect(text).toMatch(/"audit":true,"kind":"session_deleted"/);
  });
});

describe('GET /v1/audit', () => {
  test('A8/89: the owner and the administrator see it; to all others it is an address where nothing is', async () => {
    const { as } = await openGateway();
    for (const name of names) {
      const answer = await as[name]('GET', '/v1/audit?limit=0');
      const missing = await as[name]('GET', '/v1/other');
      const sees = ['owner', 'second', 'admin'].includes(name);
      expect([name, answer.status]).toEqual([name, sees ? 400 : 404]);
      if (!sees) expect(bytesOf(answer)).toBe(bytesOf(missing).replaceAll('/v1/other', '/v1/audit'));
      expect((await as[name]('GET', '/v1/audit')).status).toBe(sees ? 200 : 404);
    }
  });

  test('pages the oldest first after a record, else has the newest, of one kind if that is wanted', async () => {
    const { call } = await startWorld();
    for (let made = 0; made < 5; made++) await call('POST', '/v1/tokens', { body: { role: 'read-only' } });
    const { tokens } = (await call('GET', '/v1/tokens')).body;
    await call('DELETE', `/v1/tokens/${tokens[0].id}`);
    const pageOf = async (query: string) => (await call('GET', `/v1/audit?${query}`)).body;
    const seqs = ({ records }: { records: StoredAudit[] }) => records.map(({ seq }) => seq);
    const first = await pageOf('after=0&limit=4');
    expect([seqs(first), first.next, first.more]).toEqual([[1, 2, 3, 4], '4', true]);
    const rest = await pageOf(`after=${first.next}&limit=4`);
    expect([seqs(rest), rest.next, rest.more]).toEqual([[5, 6], '6', false]);
    expect(await pageOf('after=6')).toEqual({ records: [], next: '6', more: false });
    expect(seqs(await pageOf('limit=2'))).toEqual([5, 6]);
    const older = await pageOf('before=5&limit=3');
    expect([seqs(older), older.next, older.more]).toEqual([[2, 3, 4], '2', true]);
    const oldest = await pageOf(`before=${older.next}&limit=3`);
    expect([seqs(oldest), oldest.more]).toEqual([[1], false]);
    expect((await pageOf('kind=token_revoked')).records).toMatchObject([{ target: tokens[0].id }]);
  });

  test.each([
    ['after=x', 'after'],
    ['after=1.2', 'after'],
    ['kind=tea', 'kind'],
    ['limit=1001', 'limit'],
    ['before=x', 'before'],
    ['after=1&before=3', 'before'],
  ])('%s is refused by its name', async (query, field) => {
    const { call } = await startWorld();
    expect((await call('GET', `/v1/audit?${query}`)).body).toMatchObject({ code: 'invalid', field });
  });

  test('docs/operate/access.md has each kind', () => {
    const page =
      readFileSync(new URL('../../../../docs/operate/access.md', import.meta.url), 'utf8').split('\n## Audit')[1] ?? '';
    for (const kind of auditKinds) expect(page).toContain(`| \`${kind}\` |`);
  });
});
