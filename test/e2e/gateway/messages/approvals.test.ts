import { describe, expect, test, vi } from 'vitest';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { ApprovalRequest } from '../../../../shared/domain/values/types.ts';
import { fixed } from '../../../../shared/runtime/config/reload.ts';
import { bytesOf, configOf, type GatewayRig, type Name, openGateway } from '../access/access-rig.ts';
import { callerOf, openGateway as openGatewayWith, pathOf, ready, token } from '../setup.ts';

/** Approvals at the gateway (A5/62): who sees them, who may answer, and what each answer is told. */

const group = 'agent:main:telegram:group:-100';
const direct = 'agent:main:telegram:default:dm:1';
const expiresAt = 4e12;

/** A turn of Ann's that waits for a person; resolves with its run. */
const waiting = async (
  gateway: GatewayRig,
  key: string,
  request: Partial<ApprovalRequest> & { approvalId: string },
): Promise<string> => {
  const { as, host, done, said } = gateway;
  host.hold();
  await said(key, ['telegram:1'], request.approvalId);
  const body = { text: 'clean up', sender: { id: 'telegram:1' } };
  const { runId } = (await as.owner('POST', pathOf(key, '/messages'), { body })).body;
  await vi.waitFor(() => expect(host.state(key as SessionKey).machine.value).toBe('running'));
  const turn = { id: runId, attempt: 1 };
  await done(key, { type: 'request_approval', turn, tool: 'exec', action: 'run rm -r build', expiresAt, ...request });
  return runId;
};
const answer = (gateway: GatewayRig, name: Name, id: string, body: object = { verdict: 'allow-once' }, headers = {}) =>
  gateway.as[name]('POST', `/v1/approvals/${id}`, { body, headers });
const rpc = async (gateway: GatewayRig, name: Name, method: string, params: object = {}) =>
  (await gateway.as[name]('POST', '/v1/rpc', { body: { method, params } })).body;
const resolutions = async ({ as }: GatewayRig, key: string): Promise<any[]> =>
  (await as.owner('GET', pathOf(key, '/events?type=approval_resolved'))).body.events;
const listed = async (gateway: GatewayRig, name: Name): Promise<string[]> =>
  (await gateway.as[name]('GET', '/v1/approvals')).body.approvals.map(({ approvalId }: { approvalId: string }) => approvalId);

describe('the list', () => {
  test('A5/62: what waits, for whom, since when; newest first, in pages', async () => {
    const gateway = await openGateway();
    await waiting(gateway, direct, { approvalId: 'first' });
    await waiting(gateway, group, { approvalId: 'second', asks: 'retry', approvers: ['bob'], onceOnly: true });
    await vi.waitFor(async () => expect(await listed(gateway, 'owner')).toEqual(['second', 'first']));
    const page = (await gateway.as.owner('GET', '/v1/approvals?limit=1')).body;
    const times = { requestedAt: expect.any(Number), expiresAt };
    expect(page.approvals).toEqual([
      {
        ...{ approvalId: 'second', sessionKey: group, tool: 'exec', action: 'run rm -r build', ...times },
        ...{ asks: 'retry', approvers: ['bob'], onceOnly: true },
      },
    ]);
    const rest = (await gateway.as.owner('GET', `/v1/approvals?limit=1&cursor=${page.nextCursor}`)).body;
    expect(rest).toMatchObject({
      approvals: [{ approvalId: 'first', asks: 'run', approvers: [], onceOnly: false }],
      nextCursor: null,
    });
    expect(await rpc(gateway, 'owner', 'approvals.list', { limit: 1 })).toMatchObject({ ok: true, result: page });
    expect((await gateway.as.owner('GET', pathOf(group))).body).toMatchObject({
      status: 'awaiting_approval',
      approval: { approvalId: 'second' },
      queueMode: 'followup',
      costUsd: 0,
    });
    await answer(gateway, 'owner', 'second');
    await vi.waitFor(async () => expect(await listed(gateway, 'owner')).toEqual(['first']));
  });

  test('each with its address on the page, where that is known and there is a page', async () => {
    const publicUrl = 'https://natter.example';
    const config = configOf();
    const on = { ...config, page: { ...config.page, enabled: true } };
    const configs = [{ ...on, gateway: { ...on.gateway, publicUrl } }, on];
    configs.push({ ...config, page: { ...config.page, enabled: false }, gateway: { ...config.gateway, publicUrl } });
    const pages = configs.map(async (current) => {
      const gateway = await openGateway({ current: fixed(current) });
      await waiting(gateway, direct, { approvalId: 'first' });
      await vi.waitFor(async () => expect(await listed(gateway, 'owner')).toEqual(['first']));
      return (await gateway.as.owner('GET', '/v1/approvals')).body.approvals[0].pageUrl;
    });
    expect(await Promise.all(pages)).toEqual([`${publicUrl}/#/approvals/first`, undefined, undefined]);
  });

  test('A8/89-90: of the sessions that the caller may see', async () => {
    const gateway = await openGateway();
    await waiting(gateway, direct, { approvalId: 'hers' });
    await waiting(gateway, 'agent:main:discord:group:7', { approvalId: 'theirs' });
    await vi.waitFor(async () => expect(await listed(gateway, 'second')).toEqual(['theirs', 'hers']));
    expect(await listed(gateway, 'ann')).toEqual(['theirs', 'hers']);
    expect(await listed(gateway, 'telegram')).toEqual(['hers']);
    expect(await listed(gateway, 'discord')).toEqual(['theirs']);
    for (const name of ['bob', 'eve'] as const) expect(await listed(gateway, name)).toEqual([]);
    for (const name of ['reader', 'approver'] as const) expect(await listed(gateway, name)).toEqual(['theirs', 'hers']);
    expect(await listed(gateway, 'approverAtTelegram')).toEqual(['hers']);
    expect((await rpc(gateway, 'approverAtTelegram', 'approvals.list')).result.approvals).toHaveLength(1);
    // Whoever answers sees what is asked, and nothing else.
    expect((await gateway.as.approver('GET', '/v1/sessions?status=all')).body.sessions).toEqual([]);
    expect((await gateway.as.approver('GET', '/v1/events')).body.events).toEqual([]);
  });
});

describe('an answer', () => {
  test.each([
    ['allow-once', { verdict: 'granted', scope: 'once' }],
    ['allow-always', { verdict: 'granted', scope: 'once' }],
    ['deny', { verdict: 'denied', reason: 'not today' }],
  ])('A5/62: %s is recorded, and the turn goes on', async (verdict, expected) => {
    const gateway = await openGateway();
    const runId = await waiting(gateway, direct, { approvalId: 'k3x9' });
    const { status, body } = await answer(gateway, 'owner', 'K3X9', {
      verdict,
      ...(verdict === 'deny' && { reason: 'not today' }),
    });
    expect([status, body]).toEqual([
      200,
      {
        ...{ approvalId: 'k3x9', sessionKey: direct, verdict, status: 'ok', outcome: 'accepted' },
        ...{ runId: expect.any(String), seq: expect.any(Number), rev: expect.any(Number) },
      },
    ]);
    expect(await resolutions(gateway, direct)).toMatchObject([{ approvalId: 'k3x9', by: 'token:api', ...expected }]);
    await gateway.host.release();
    const run = await gateway.as.owner('GET', pathOf(direct, `/runs/${runId}?wait=5`));
    expect(run.body).toEqual({ runId, status: 'ok', reply: 'you said: clean up' });
  });

  test('A5/62: unknown, answered already, expired and not yours are four answers', async () => {
    const gateway = await openGateway();
    await waiting(gateway, direct, { approvalId: 'mine', approvers: ['telegram:1'] });
    await waiting(gateway, group, { approvalId: 'late', expiresAt: 1 });
    const told = async (name: Name, id: string) => {
      const { status, body } = await answer(gateway, name, id);
      return [status, body.code ?? body.outcome, body.detail];
    };
    expect(await told('owner', 'never')).toEqual([404, 'approval_unknown', expect.stringContaining('list the pending ones')]);
    expect(await told('owner', 'late')).toEqual([410, 'approval_expired', expect.stringContaining('has expired')]);
    expect(await told('ann', 'late')).toEqual([403, 'approval_forbidden', expect.stringContaining('is not yours')]);
    expect(await told('telegram', 'mine')).toEqual([403, 'approval_forbidden', expect.stringContaining('is not yours')]);
    expect(await told('ann', 'mine')).toEqual([200, 'accepted', undefined]);
    expect(await told('owner', 'mine')).toEqual([409, 'approval_resolved', expect.stringContaining('granted by telegram:1')]);
    expect((await resolutions(gateway, direct)).map(({ by }) => by)).toEqual(['telegram:1']);
  });

  test('A5/62: two at once: the first counts, the other is told who was first', async () => {
    const gateway = await openGateway();
    await waiting(gateway, direct, { approvalId: 'k3x9', approvers: ['telegram:1'] });
    const both = await Promise.all([answer(gateway, 'owner', 'k3x9'), answer(gateway, 'ann', 'k3x9', { verdict: 'deny' })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await resolutions(gateway, direct)).toHaveLength(1);
  });

  test('A8/89: a stranger hears what they would hear of an approval that does not exist', async () => {
    const gateway = await openGateway();
    await waiting(gateway, direct, { approvalId: 'k3x9' });
    const unknown = bytesOf(await answer(gateway, 'eve', 'nothing'));
    expect(unknown).toContain('approval_unknown');
    expect(bytesOf(await answer(gateway, 'eve', 'k3x9'))).toBe(unknown);
    expect(bytesOf(await answer(gateway, 'discord', 'k3x9'))).toBe(unknown);
    const named = { verdict: 'deny', sessionKey: direct };
    expect(bytesOf(await answer(gateway, 'eve', 'k3x9', named))).toBe(unknown);
    expect(bytesOf(await answer(gateway, 'eve', 'k3x9', { ...named, sessionKey: 'agent:main:nowhere' }))).toBe(unknown);
    expect(await resolutions(gateway, direct)).toEqual([]);
  });

  test('A5/62: an approver answers in their namespace with the word of the owner; who only reads does not answer', async () => {
    const gateway = await openGateway();
    await waiting(gateway, direct, { approvalId: 'hers' });
    await waiting(gateway, 'agent:main:discord:group:7', { approvalId: 'theirs' });
    expect(await answer(gateway, 'reader', 'hers')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await rpc(gateway, 'reader', 'approvals.resolve', { approvalId: 'hers', verdict: 'deny' })).toMatchObject({
      status: 403,
    });
    const unknown = bytesOf(await answer(gateway, 'approverAtTelegram', 'never'));
    expect(bytesOf(await answer(gateway, 'approverAtTelegram', 'theirs'))).toBe(unknown);
    expect((await answer(gateway, 'approverAtTelegram', 'hers')).body).toMatchObject({ outcome: 'accepted' });
    expect((await answer(gateway, 'approver', 'theirs', { verdict: 'deny' })).body).toMatchObject({ outcome: 'accepted' });
    expect(await resolutions(gateway, direct)).toMatchObject([{ verdict: 'granted', by: 'token:approverAtTelegram' }]);
  });

  test('A5/66: a person answers under whatever name their token has', async () => {
    const identityLinks = { bob: ['telegram:2', 'discord:2'], anna: ['telegram:1'] };
    const gateway = await openGateway({ current: fixed(configOf({ identityLinks })) });
    await waiting(gateway, group, { approvalId: 'k3x9', approvers: ['anna'] });
    expect((await answer(gateway, 'annAtTelegram', 'k3x9')).body).toMatchObject({ outcome: 'accepted' });
    expect(await resolutions(gateway, group)).toMatchObject([{ by: 'anna', actor: 'token:annAtTelegram' }]);
  });

  test('A5/62: nobody says in whose name they answer', async () => {
    const gateway = await openGateway();
    await waiting(gateway, direct, { approvalId: 'k3x9' });
    const by = { id: 'telegram:7', role: 'owner' };
    expect((await answer(gateway, 'ann', 'k3x9', { verdict: 'deny', by })).body).toMatchObject({ code: 'invalid', field: 'by' });
    expect((await answer(gateway, 'ann', 'k3x9', { verdict: 'maybe' })).body).toMatchObject({
      code: 'invalid',
      field: 'verdict',
    });
    const say = (name: Name, more: object = {}) =>
      gateway.as[name]('POST', pathOf(direct, '/messages?wait=5'), { body: { text: '/approve k3x9', ...more } });
    expect((await say('ann')).body.reply).toContain('is not yours to answer');
    expect((await say('owner', { sender: { id: 'telegram:7' } })).body.reply).toContain('is not yours to answer');
    expect(await resolutions(gateway, direct)).toEqual([]);
    expect((await say('owner')).body.reply).toBe('Approved: run rm -r build');
    expect((await say('owner')).body.reply).toContain('was granted in the chat already');
  });

  test('I2: the same call again, with its key, is answered and changes nothing', async () => {
    const gateway = await openGateway();
    await waiting(gateway, direct, { approvalId: 'k3x9' });
    const once = { 'idempotency-key': 'one' };
    const [first, again] = [
      await answer(gateway, 'owner', 'k3x9', undefined, once),
      await answer(gateway, 'owner', 'k3x9', undefined, once),
    ];
    expect([first.body.outcome, again.body.outcome, again.body.runId]).toEqual(['accepted', 'duplicate', first.body.runId]);
  });

  test('I2: another approval with the same key is answered, and another verdict is told who was first', async () => {
    const gateway = await openGateway();
    const once = { 'idempotency-key': 'one' };
    await waiting(gateway, direct, { approvalId: 'k3x9' });
    await answer(gateway, 'owner', 'k3x9', undefined, once);
    const { status, body } = await answer(gateway, 'owner', 'k3x9', { verdict: 'deny' }, once);
    expect([status, body.code]).toEqual([409, 'approval_resolved']);
    await gateway.as.owner('POST', pathOf(direct, '/stop'), { body: {} });
    await waiting(gateway, direct, { approvalId: 'p7q2' });
    expect((await answer(gateway, 'owner', 'p7q2', { verdict: 'deny' }, once)).body.outcome).toBe('accepted');
    expect((await resolutions(gateway, direct)).map(({ verdict }) => verdict)).toEqual(['granted', 'denied']);
  });

  test('A12/131: by name', async () => {
    const gateway = await openGateway();
    await waiting(gateway, direct, { approvalId: 'k3x9' });
    const params = { approvalId: 'k3x9', verdict: 'allow-always' };
    expect(await rpc(gateway, 'eve', 'approvals.resolve', params)).toMatchObject({ status: 404, code: 'approval_unknown' });
    expect(await rpc(gateway, 'owner', 'approvals.resolve', params)).toMatchObject({ ok: true, result: { outcome: 'accepted' } });
  });
});

describe('A5/62: an index that is behind', () => {
  test('whoever was there when it was asked knows whose it is', async () => {
    const gateway = await openGateway({ index: false });
    await waiting(gateway, direct, { approvalId: 'k3x9' });
    await vi.waitFor(async () => expect((await answer(gateway, 'owner', 'k3x9')).body).toMatchObject({ outcome: 'accepted' }));
  });

  test('others find it by its session', async () => {
    const gateway = await openGateway({ index: false });
    await waiting(gateway, direct, { approvalId: 'k3x9' });
    const call = callerOf((await openGatewayWith(gateway.ports)).url, token);
    await ready(call);
    const later = (body: object) => call('POST', '/v1/approvals/k3x9', { body: { verdict: 'deny', ...body } });
    expect((await later({})).body).toMatchObject({ code: 'approval_unknown' });
    expect((await later({ sessionKey: direct })).body).toMatchObject({ outcome: 'accepted', sessionKey: direct });
  });

  test('a gateway that was opened after the question has heard the answer, and tells the late who was first', async () => {
    const gateway = await openGateway({ index: false });
    await waiting(gateway, direct, { approvalId: 'k3x9' });
    const call = callerOf((await openGatewayWith(gateway.ports)).url, token);
    await ready(call);
    await vi.waitFor(async () => expect((await answer(gateway, 'owner', 'k3x9')).body).toMatchObject({ outcome: 'accepted' }));
    await vi.waitFor(async () => {
      const late = await call('POST', '/v1/approvals/k3x9', { body: { verdict: 'deny' } });
      expect(late).toMatchObject({ status: 409, body: { code: 'approval_resolved' } });
    });
  });
});

test('A10/118-122, A5/62: a run that waits for a person says so, and whoever waits for it is told that it goes on', async () => {
  const gateway = await openGateway();
  const runId = await waiting(gateway, direct, { approvalId: 'k3x9' });
  const run = () => gateway.as.owner('GET', pathOf(direct, `/runs/${runId}`));
  expect((await run()).body).toEqual({ runId, status: 'awaiting_approval', approvalId: 'k3x9' });
  const waited = await rpc(gateway, 'owner', 'agent.wait', { runId, sessionKey: direct, timeoutMs: 50 });
  expect(waited.result).toMatchObject({ status: 'timeout', error: { message: expect.stringContaining('awaiting approval') } });
  await answer(gateway, 'owner', 'k3x9');
  expect((await run()).body).toEqual({ runId, status: 'running' });
});
