import { describe, expect, test, vi } from 'vitest';
import type { InboundEnvelope } from '../../../../shared/domain/routing/inbound-envelope.ts';
import { pathOf } from '../setup.ts';
import { bytesOf, type Name, openGateway } from './access-rig.ts';

const group = 'agent:main:telegram:group:g';
const ofEve = 'agent:main:telegram:default:dm:9';
const forbidden = (field: string) => ({ status: 403, code: 'forbidden', field });

describe('whose words they are', () => {
  test('A5/66: a message bears the person and the role of its token, and the log its name', async () => {
    const { as, said } = await openGateway();
    await said(group, ['telegram:1', 'telegram:2']);
    for (const name of ['ann', 'bob', 'owner', 'telegram'] as const) {
      expect((await as[name]('POST', pathOf(group, '/messages?wait=5'), { body: { text: name } })).status).toBe(200);
    }
    const { commits } = (await as.owner('GET', pathOf(group, '/commits?after=2'))).body;
    const written = commits.flatMap(({ actor, events }: any) =>
      events.filter(({ type }: any) => type === 'user_message').map(({ message }: any) => [message.text, actor, message.sender]),
    );
    expect(written).toEqual([
      ['ann', 'token:ann', { id: 'telegram:1', role: 'participant', principal: 'telegram:1' }],
      ['bob', 'token:bob', { id: 'bob', role: 'participant', principal: 'bob' }],
      ['owner', 'token:api', { id: 'api', role: 'program' }],
      // A channel brings what strangers say: without a sender, too, it has no more rights than they (D7).
      ['telegram', 'token:telegram', { id: 'api', role: 'program', onBehalfOf: 'participant' }],
    ]);
  });

  const target = { channel: 'telegram', to: '5' };
  const elsewhere = { channel: 'discord', to: '5' };
  const rows: readonly [who: Name, body: object, expected: object][] = [
    ['ann', { sender: { id: 'telegram:2' } }, forbidden('sender')],
    ['annAtTelegram', { sender: { id: '2' } }, forbidden('sender')],
    ['ann', { deliverTo: target }, forbidden('deliverTo')],
    ['ann', { messageId: 'm' }, forbidden('messageId')],
    ['annAtTelegram', { messageId: 'm' }, forbidden('messageId')],
    ['annAtTelegram', { deliverTo: target }, forbidden('deliverTo')],
    ['telegram', { deliverTo: elsewhere }, forbidden('deliverTo.channel')],
    ['telegram', { deliverTo: target, messageId: 'm', sender: { id: '2' } }, { status: 202 }],
    ['owner', { deliverTo: elsewhere, messageId: 'm', sender: { id: 'telegram:2' } }, { status: 202 }],
    ['owner', { sender: { id: 'telegram:2', principal: 'ann' } }, { status: 400, field: 'sender.principal' }],
    ['telegram', { sender: { id: '2', role: 'owner' } }, { status: 400, field: 'sender.role' }],
  ];
  test.each(rows)('A5/66: nobody says more of a message than their token (%s, %j)', async (who, body, expected) => {
    const { as, said } = await openGateway();
    await said(group, ['telegram:1']);
    const answer = await as[who]('POST', pathOf(group, '/messages'), { body: { text: 'hi', ...body } });
    expect({ ...answer.body, status: answer.status }).toMatchObject(expected);
  });

  test('A5/66: who writes by a channel is who the channel says they are', async () => {
    const { as, said } = await openGateway();
    await said(group, ['telegram:1']);
    const body = { text: 'hi', sender: { id: '2', name: 'Bob' } };
    expect((await as.telegram('POST', pathOf(group, '/messages?wait=5'), { body })).status).toBe(200);
    expect((await as.bob('GET', pathOf(group))).body.participants).toEqual(['telegram:1', 'bob']);
  });

  test('D7: in a shared session each stops and interrupts the turn that is theirs, the owner every one', async () => {
    const { as, said, host } = await openGateway();
    await said(group, ['telegram:1', 'telegram:2']);
    host.hold();
    const stop = (name: Name) => as[name]('POST', pathOf(group, '/stop'));
    const ask = async (name: Name) => {
      await as[name]('POST', pathOf(group, '/messages'), { body: { text: 'work' } });
      await vi.waitFor(async () => expect((await as.owner('GET', pathOf(group))).body.status).toBe('running'));
    };
    await ask('bob');
    expect((await stop('ann')).body).toMatchObject({ status: 403, code: 'stop_forbidden' });
    expect((await stop('telegram')).body).toMatchObject({ status: 403, code: 'stop_forbidden' });
    const interrupt = { body: { text: 'me first', queue: 'interrupt' } };
    expect((await as.ann('POST', pathOf(group, '/messages'), interrupt)).body).toMatchObject({ status: 403, code: 'forbidden' });
    const text = await as.ann('POST', pathOf(group, '/messages?wait=5'), { body: { text: '/stop' } });
    expect(text.body.reply).toBe('Nothing was stopped: only the owner may stop what others started.');
    expect((await stop('bob')).body).toMatchObject({ status: 'ok', outcome: 'accepted' });
    await ask('bob');
    expect((await stop('owner')).body).toMatchObject({ status: 'ok', outcome: 'accepted' });
  });

  test('D7, I11: strangers have a part of the queue of a shared session, and take none of the owner’s', async () => {
    const { as, said, host } = await openGateway({ session: { queue: { limit: 4 } } });
    await said(group, ['telegram:1', 'telegram:2']);
    host.hold();
    const ask = async (name: Name, wait = '') =>
      (await as[name]('POST', pathOf(group, `/messages${wait}`), { body: { text: 'work' } })).body;
    await ask('bob');
    await vi.waitFor(async () => expect((await as.owner('GET', pathOf(group))).body.status).toBe('running'));
    const queued = (count: number) =>
      vi.waitFor(async () => expect((await as.owner('GET', pathOf(group))).body.queuedTurns).toBe(count));
    await ask('bob');
    await queued(1);
    expect(await ask('bob', '?wait=5')).toMatchObject({ status: 'error', error: { code: 'queue_full' } });
    await ask('ann');
    await queued(2);
    for (let count = 3; count <= 6; count++) {
      expect(await ask('owner')).toMatchObject({ status: 'accepted' });
      await queued(count);
    }
    expect(await ask('owner')).toMatchObject({ status: 429, code: 'overloaded' });
    await host.release();
  });

  test('A5/66: the same idempotency key of two callers is two runs', async () => {
    const { as, said } = await openGateway();
    await said(group, ['telegram:1', 'telegram:2']);
    const options = { body: { text: 'hi' }, headers: { 'idempotency-key': 'once' } };
    const runOf = async (name: Name) => (await as[name]('POST', pathOf(group, '/messages'), options)).body.runId;
    const runs = [await runOf('ann'), await runOf('bob'), await runOf('ann')];
    expect(runs[2]).toBe(runs[0]);
    expect(runs[1]).not.toBe(runs[0]);
  });
});

describe('beginning a session', () => {
  test('A5/64, 67: what a participant has just begun is there for it at once, however late the index is', async () => {
    const { as } = await openGateway({ index: false });
    const { runId } = (await as.eve('POST', pathOf(ofEve, '/messages'), { body: { text: 'hi' } })).body;
    expect((await as.eve('GET', pathOf(ofEve, `/runs/${runId}?wait=5`))).body).toMatchObject({ status: 'ok' });
    expect((await as.eve('GET', pathOf(ofEve))).body).toMatchObject({ participants: ['telegram:9'] });
    expect(bytesOf(await as.ann('GET', pathOf(ofEve)))).toBe(bytesOf(await as.ann('GET', pathOf('agent:main:x:dm:1'))));
  });

  test('A5/64, 66: opening makes the person a participant', async () => {
    const { as } = await openGateway();
    expect((await as.eve('POST', pathOf(ofEve, '/open'))).body).toMatchObject({ status: 'ok', outcome: 'accepted' });
    expect((await as.eve('GET', pathOf(ofEve))).body.participants).toEqual(['telegram:9']);
  });

  test('A5/67: a session of its key that others have begun is not its own', async () => {
    const { as, said } = await openGateway();
    await said(ofEve, ['telegram:1']);
    expect((await as.eve('POST', pathOf(ofEve, '/messages'), { body: { text: 'hi' } })).status).toBe(404);
  });

  test('A5/67, A3/25: under dmScope main nobody but the owner begins the shared session', async () => {
    const { as } = await openGateway({ session: { dmScope: 'main' } });
    expect((await as.eve('POST', pathOf('agent:main:main', '/messages'), { body: { text: 'hi' } })).status).toBe(404);
    expect((await as.owner('POST', pathOf('agent:main:main', '/messages'), { body: { text: 'hi' } })).status).toBe(202);
  });
});

describe('POST /v1/inbound', () => {
  const envelope = (more: object) => ({
    id: 'e1',
    channel: 'telegram',
    conversation: { id: 'g', kind: 'group' },
    sender: { id: '1' },
    text: 'hi',
    ...more,
  });
  const rows: readonly [who: Name, more: object, expected: object][] = [
    ['owner', { channel: 'irc' }, { status: 202 }],
    ['telegram', {}, { status: 202 }],
    ['telegram', { sender: { id: '2' } }, { status: 202 }],
    ['telegram', { channel: 'telegramx' }, forbidden('channel')],
    ['discord', {}, forbidden('channel')],
    ['telegram', { deliverTo: { channel: 'discord', to: '1' } }, forbidden('deliverTo.channel')],
    ['telegram', { sender: { id: '1', role: 'owner' } }, { status: 400, field: 'sender.role' }],
    ['telegram', { sender: { id: '1', principal: 'bob' } }, { status: 400, field: 'sender.principal' }],
    ['annAtTelegram', {}, { status: 202 }],
    ['annAtTelegram', { conversation: { id: '1', kind: 'direct' } }, { status: 202 }],
    ['annAtTelegram', { conversation: { id: 'bobs', kind: 'group' } }, { status: 404, code: 'not_found' }],
    ['annAtTelegram', { conversation: { id: 'new', kind: 'group' } }, { status: 404, code: 'not_found' }],
    ['annAtTelegram', { conversation: { id: '1', kind: 'direct' }, sessionKey: 'group:bobs' }, { status: 404 }],
    ['annAtTelegram', { sender: { id: '2' } }, forbidden('sender.id')],
    ['annAtTelegram', { order: '5' }, forbidden('order')],
    ['annAtTelegram', { provider: 'cli' }, forbidden('provider')],
    ['annAtTelegram', { source: { kind: 'cli', interactive: true } }, forbidden('source')],
    ['annAtTelegram', { from: 'olga' }, forbidden('from')],
    ['annAtTelegram', { to: 'olga' }, forbidden('to')],
    ['annAtTelegram', { conversation: { id: 'g', kind: 'group', label: 'x' } }, forbidden('conversation.label')],
    ['annAtTelegram', { conversation: { id: '1', kind: 'direct', label: 'Ann' } }, { status: 202 }],
    [
      'telegram',
      { order: '5', provider: 'tg', from: 'x', conversation: { id: 'g', kind: 'group', label: 'x' } },
      { status: 202 },
    ],
    ['annAtTelegram', { deliverTo: { channel: 'telegram', to: 'bobs' } }, forbidden('deliverTo')],
    ['annAtTelegram', { conversation: { id: 'bobs', kind: 'direct' } }, forbidden('conversation.id')],
    ['annAtTelegram', { conversation: { id: 'bobs', kind: 'group' }, sessionKey: 'group:g' }, forbidden('conversation.id')],
    ['telegram', { deliverTo: { channel: 'telegram', to: 'bobs' } }, { status: 202 }],
    ['telegram', { conversation: { id: 'bobs', kind: 'direct' } }, { status: 202 }],
    ['ann', {}, forbidden('channel')],
    ['eve', {}, forbidden('channel')],
  ];
  test.each(rows)("A8/90: a channel's token speaks for its own channel (%s, %j)", async (who, more, expected) => {
    const { as, ports, said } = await openGateway();
    await said(group, ['telegram:1']);
    await said('agent:main:telegram:group:bobs', ['telegram:2']);
    const stored: InboundEnvelope[] = [];
    const handle = async ({ message }: { message: InboundEnvelope }) => {
      stored.push(message);
      return { kind: 'done' } as const;
    };
    const consumption = await ports.inbound.consume({ member: 'test', handle });
    const answer = await as[who]('POST', '/v1/inbound', { body: envelope(more) });
    expect({ ...answer.body, status: answer.status }).toMatchObject(expected);
    if (answer.status === 202) await vi.waitFor(() => expect(stored).toHaveLength(1));
    else expect(await ports.inbound.lag()).toBe(0);
    await consumption.close();
  });

  test("I2, A8/90: whatever id a person chooses, it keeps no message of the platform's own out, nor another person's", async () => {
    const { as, ports, said } = await openGateway();
    await said(group, ['telegram:1']);
    const tell = async (who: Name) => (await as[who]('POST', '/v1/inbound', { body: envelope({}) })).body;
    const own = await tell('annAtTelegram');
    expect(own).toMatchObject({ status: 'accepted', duplicate: false });
    expect(await tell('annAtTelegram')).toEqual({ ...own, duplicate: true });
    expect(await tell('telegram')).toEqual({ id: 'e1', status: 'accepted', duplicate: false });
    expect(await tell('telegram')).toEqual({ id: 'e1', status: 'accepted', duplicate: true });
    expect(await ports.inbound.lag()).toBe(2);
  });

  test('A5/67, A3/22: under scope global a person speaks from their own conversation alone', async () => {
    const { as } = await openGateway({ session: { scope: 'global' } });
    const tell = async (conversation: object) =>
      (await as.annAtTelegram('POST', '/v1/inbound', { body: envelope({ conversation }) })).status;
    expect([await tell({ id: '1', kind: 'direct' }), await tell({ id: 'g', kind: 'group' })]).toEqual([202, 403]);
  });
});
