import { expect, test, vi } from 'vitest';
import { openGateway, secretOf } from '../access/access-rig.ts';
import { startWorld } from '../setup.ts';
import { type Client, connect, knock } from './websocket-client.ts';

const group = 'agent:main:telegram:group:x';
/** What a call is refused with, but for what is the call's own. */
const refusal = async (client: Client, method: string, params: object) => {
  const { ok, error } = await client.call(method, params);
  const { requestId: _, ...told } = error;
  return { ok, ...told };
};

test('A8/89: a foreign session answers a subscription as a missing one does', async () => {
  const gateway = await openGateway();
  await gateway.said(group, ['telegram:1']);
  const eve = await connect(gateway.url, secretOf('eve'));
  const foreign = await refusal(eve, 'subscribe', { sessionKey: group });
  expect(foreign).toMatchObject({ ok: false, code: 'not_found' });
  expect(await refusal(eve, 'subscribe', { sessionKey: 'agent:main:telegram:group:none' })).toEqual(foreign);
});

test('A8/89: a subscription to everything has what the token may see, and what it may see from then on', async () => {
  const gateway = await openGateway();
  const other = 'agent:main:telegram:group:y';
  await gateway.said(group, ['telegram:1']);
  await gateway.said(other, ['telegram:9']);
  const [ann, bob] = [await connect(gateway.url, secretOf('ann')), await connect(gateway.url, secretOf('bob'))];
  for (const client of [ann, bob]) await client.call('subscribe', { after: '0' });
  await gateway.said(group, ['telegram:2']);
  const keysOf = ({ frames }: Client) => [
    ...new Set(frames.filter(({ type }) => type === 'event').map(({ event }) => event.key)),
  ];
  await vi.waitFor(() => expect(ann.ids().at(-1)).toMatch(/^3\./));
  await vi.waitFor(() => expect(bob.ids().at(-1)).toMatch(/^3\./));
  expect([keysOf(ann), keysOf(bob)]).toEqual([[group], [group]]);
});

test('A8/89: a subscription to a session that is not theirs any more ends, and the others go on', async () => {
  const gateway = await openGateway();
  const own = 'agent:main:telegram:default:dm:1';
  await gateway.said(group, ['telegram:1']);
  await gateway.said(own, ['telegram:1']);
  const ann = await connect(gateway.url, secretOf('ann'));
  await ann.call('subscribe', { sessionKey: group, after: '0' });
  await ann.call('subscribe', { sessionKey: own, after: '0' });
  await vi.waitFor(() => expect(new Set(ann.ids('1').map((id) => id.split('.')[0]))).toEqual(new Set(['1'])));
  await gateway.done(group, { type: 'delete_session', mode: 'key', reason: 'test' });
  expect(await ann.next('end')).toMatchObject({ subscription: '1', after: ann.ids('1').at(-1), error: { code: 'not_found' } });
  expect(ann.ids('1').at(-1)).toMatch(/^1\./);
  expect(await refusal(ann, 'unsubscribe', { subscription: '1' })).toMatchObject({ code: 'not_found' });
  await gateway.said(own, ['telegram:1'], 'later');
  await vi.waitFor(() => expect(ann.ids('2').at(-1)).toMatch(/^4\./));
});

test.each(['frame', 'header'])('I12: a token that is revoked ends its connection, and no other (shown in a %s)', async (by) => {
  const { gateway, call } = await startWorld();
  const { body: made } = await call('POST', '/v1/tokens', { body: { role: 'owner' } });
  const { id, token } = made;
  const guest = by === 'frame' ? await connect(gateway.url, token) : knock(gateway.url, { authorization: `Bearer ${token}` });
  await guest.next('hello');
  const owner = await connect(gateway.url);
  for (const client of [guest, owner]) await client.call('subscribe', { after: '0' });
  expect((await call('DELETE', `/v1/tokens/${id}`)).status).toBe(200);
  expect(await guest.closed).toEqual({ code: 4403, reason: 'this token was revoked; after 1=0' });
  expect((await owner.call('status')).ok).toBe(true);
});

test('a token that only reads changes nothing by a WebSocket either', async () => {
  const { gateway, call } = await startWorld();
  const { body } = await call('POST', '/v1/tokens', { body: { role: 'read-only' } });
  const reader = await connect(gateway.url, body.token);
  expect((await reader.call('subscribe')).ok).toBe(true);
  expect(await refusal(reader, 'chat.send', { sessionKey: 'main', message: 'hi' })).toMatchObject({ code: 'forbidden' });
});
