import { expect, onTestFinished, test, vi } from 'vitest';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { ResumeRequest, WaitingDelivery } from '../../../../shared/domain/values/delivery.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import type { CustodyRecord } from '../../../../shared/ports/custody-log.ts';
import type { Undelivered } from '../../../../shared/ports/dead-letters.ts';
import type { Ports } from '../../../../shared/ports/index.ts';
import { undeliveredCodec } from '../../../../shared/wire/undelivered.ts';
import { pathOf, startWorld } from '../setup.ts';

/** Outgoing messages that may not have arrived, and what a person makes of them (D12). */

const key = 'agent:main:telegram:group:-1' as SessionKey;
const target = { channel: 'telegram', to: '-1' };
const undelivered = (id: string, more: Partial<Undelivered> = {}): Undelivered => ({
  ...{ id, seq: Number(id.split('.')[0]), key, target, kind: 'assistant_message', text: `text of ${id}`, turnId: 't' },
  ...{ outcome: 'unknown' },
  ...more,
});

const start = async () => {
  const { ports, call } = await startWorld();
  const said = await call('POST', pathOf(key, '/messages'), { body: { text: 'hi', mode: 'append' } });
  expect(said.status).toBeLessThan(300);
  const keep = async (message: Undelivered, reason = 'socket hang up') => {
    const subject = `natter.delivery.${message.outcome}.telegram.x`;
    const bytes = undeliveredCodec.encode(message);
    await ports.deadLetters.put({ id: message.id, service: 'delivery', reason, subject, at: 1, bytes });
  };
  const list = async (query = '') => (await call('GET', `/v1/deliveries${query}`)).body;
  const seqOf = async (id: string): Promise<number> =>
    (await list()).deliveries.find(({ outboundId }: { outboundId: string }) => outboundId === id).seq;
  const repeats = async () =>
    (await call('GET', `${pathOf(key, '/events')}?type=delivery_repeated`)).body.events.map(
      ({ outboundId, text, by, deliverTo }: Record<string, unknown>) => ({ outboundId, text, by, deliverTo }),
    );
  return { ports, call, keep, list, seqOf, repeats };
};

test('are listed newest first, page by page, without those of other services', async () => {
  const { ports, call, keep, list, seqOf } = await start();
  expect(await list()).toEqual({ waiting: [], deliveries: [], next: null });
  await keep(undelivered('4.0', { outcome: 'failed' }), 'HTTP 404');
  await ports.deadLetters.put({ id: 'x', service: 'router', reason: 'y', subject: 'z', at: 1, bytes: new Uint8Array([1]) });
  await keep(undelivered('5.0', { outcome: 'partial', parts: { sent: 2, of: 5 } }));
  await keep(undelivered('6.0'));
  const { deliveries } = await list();
  expect(deliveries).toMatchObject([
    { outboundId: '6.0', state: 'unknown', sessionKey: key, target, detail: 'socket hang up' },
    { outboundId: '5.0', state: 'partial', parts: { sent: 2, of: 5 } },
    { outboundId: '4.0', state: 'failed', detail: 'HTTP 404' },
  ]);
  expect(deliveries[0]).not.toHaveProperty('text');
  const first = await list('?limit=2');
  expect(first.next).toBe(await seqOf('5.0'));
  expect(await list(`?limit=2&before=${first.next}`)).toMatchObject({ deliveries: [{ outboundId: '4.0' }], next: null });
  expect((await call('GET', `/v1/deliveries/${await seqOf('6.0')}`)).body).toMatchObject({
    ...{ text: 'text of 6.0', repeat: { isPossible: true, why: 'the receiver may get it twice' } },
  });
  const { result } = (await call('POST', '/v1/rpc', { body: { method: 'status' } })).body;
  expect(result).toMatchObject({ deadLetters: 4, openDeliveries: 3 });
  expect((await call('GET', '/metrics')).text).toMatch(/^natter_deliveries_open 3$/m);
});

test('one that is repeated goes into the log of its session once, and is no longer listed', async () => {
  const { ports, call, keep, list, seqOf, repeats } = await start();
  await keep(undelivered('6.0'));
  const seq = await seqOf('6.0');
  const repeated = await call('POST', `/v1/deliveries/${seq}/repeat`);
  expect(repeated).toMatchObject({
    status: 200,
    body: { seq, command: { status: 'ok' }, warning: expect.stringContaining('twice') },
  });
  expect(await repeats()).toEqual([{ outboundId: '6.0', text: 'text of 6.0', by: expect.any(String), deliverTo: target }]);
  expect(await list()).toMatchObject({ deliveries: [] });
  expect((await call('POST', `/v1/deliveries/${seq}/repeat`)).status).toBe(404);
  const { records } = await ports.audit.page({ limit: 9, kind: 'delivery_repeated' });
  expect(records).toMatchObject([{ target: `${seq}`, outcome: 'ok', detail: 'outboundId: 6.0, state: unknown' }]);
});

test('I2: a crash between the command and the removal of the letter repeats nothing twice', async () => {
  const { ports, call, keep, seqOf, repeats } = await start();
  await keep(undelivered('6.0'));
  const at = `/v1/deliveries/${await seqOf('6.0')}/repeat`;
  const failing = vi
    .spyOn(ports.deadLetters, 'remove')
    .mockRejectedValueOnce(new NatterError('unavailable', 'the broker is away'));
  expect((await call('POST', at)).status).toBe(503);
  expect(failing).toHaveBeenCalledOnce();
  expect((await call('POST', at)).body).toMatchObject({ command: { outcome: 'duplicate' } });
  expect(await repeats()).toHaveLength(1);
});

test('I2: two people at once have it repeated once', async () => {
  const { call, keep, seqOf, repeats } = await start();
  await keep(undelivered('6.0'));
  const at = `/v1/deliveries/${await seqOf('6.0')}/repeat`;
  const both = await Promise.all([call('POST', at), call('POST', at)]);
  expect(both.map(({ status }) => status).filter((status) => status !== 200 && status !== 404)).toEqual([]);
  expect(await repeats()).toHaveLength(1);
});

test('one that is left is no longer listed, and who left it is audited', async () => {
  const { ports, call, keep, list, seqOf, repeats } = await start();
  await keep(undelivered('6.0'));
  const seq = await seqOf('6.0');
  expect((await call('POST', `/v1/deliveries/${seq}/leave`)).body).toMatchObject({ seq, outboundId: '6.0' });
  expect(await list()).toMatchObject({ deliveries: [] });
  expect(await repeats()).toEqual([]);
  const { records } = await ports.audit.page({ limit: 9, kind: 'delivery_left' });
  expect(records).toMatchObject([{ target: `${seq}`, outcome: 'ok', detail: 'outboundId: 6.0, state: unknown' }]);
});

test('what cannot be repeated says why, and stays', async () => {
  const { ports, call, keep, list, seqOf } = await start();
  await keep(undelivered('6.0', { text: '' }));
  await keep(undelivered('7.0', { key: 'agent:main:gone' as SessionKey }));
  const repeat = async (id: string) => call('POST', `/v1/deliveries/${await seqOf(id)}/repeat`);
  expect(await repeat('6.0')).toMatchObject({
    status: 409,
    body: { code: 'not_resendable', detail: expect.stringContaining('erased') },
  });
  expect(await repeat('7.0')).toMatchObject({ body: { code: 'session_unknown' } });
  expect((await list()).deliveries).toHaveLength(2);
  // The dead letters show the same, and say where to go.
  const { body } = await call('POST', `/v1/dead-letters/${await seqOf('6.0')}/resend`);
  expect(body.detail).toMatch(/natter deliveries repeat/);
  await ports.deadLetters.put({ id: 'x', service: 'delivery', reason: 'y', subject: 'z', at: 1, bytes: new Uint8Array([1]) });
  expect((await list()).deliveries).toHaveLength(2);
});

const parkedWork: WaitingDelivery = { channel: 'telegram', accountId: 'work', state: 'parked', detail: 'HTTP 401', until: 9 };
const reporting = (ports: Pick<Ports, 'presence'>, ...waiting: WaitingDelivery[]): Promise<void> => {
  const service = { name: 'delivery', problems: [], warnings: [], metrics: {}, waiting };
  return ports.presence.tell({ v: 1, process: 'p', version: '0', startedAt: 1, at: 1, services: [service] });
};

test('what waits is listed as long as its process reports it, on the first page only', async () => {
  const { ports, list } = await start();
  const waiting = parkedWork;
  await reporting(ports, waiting);
  await vi.waitFor(async () => expect(await list()).toEqual({ waiting: [waiting], deliveries: [], next: null }));
  expect(await list('?before=9')).toMatchObject({ waiting: [] });
});

test('D12: parked accounts are tried again when the owner says so: all of a channel or one, and the audit has it', async () => {
  const { ports, call } = await start();
  const other: WaitingDelivery = { channel: 'telegram', to: '7', state: 'waiting', detail: 'later', until: 9 };
  const { accountId: _, ...unnamed } = parkedWork;
  await reporting(ports, parkedWork, unnamed, other);
  const heard: ResumeRequest[] = [];
  onTestFinished(ports.resumeRequests.subscribe((request) => heard.push(request)));
  const resume = (body: ResumeRequest) => call('POST', '/v1/deliveries/resume', { body });
  expect(await resume({ channel: 'telegram', accountId: 'home' })).toMatchObject({ status: 404, body: { field: 'channel' } });
  expect(await resume({ channel: 'irc' })).toMatchObject({ status: 404 });
  expect(heard).toEqual([]);
  expect((await resume({ channel: 'Telegram', accountId: 'work' })).body).toEqual({ accounts: [parkedWork] });
  expect((await resume({ channel: 'telegram' })).body).toEqual({ accounts: [parkedWork, unnamed] });
  await vi.waitFor(() => expect(heard).toEqual([{ channel: 'Telegram', accountId: 'work' }, { channel: 'telegram' }]));
  const { records } = await ports.audit.page({ limit: 9, kind: 'delivery_resumed' });
  expect(records).toMatchObject([
    { target: 'Telegram', detail: 'accountId: work' },
    { target: 'telegram', outcome: 'ok' },
  ]);
});

test('those that arrived are listed newest first, page by page, with their attempts and receipts', async () => {
  const { ports, call } = await start();
  const write = (id: string, change: Partial<CustodyRecord>) => {
    const to = { channel: 'telegram', to: id };
    const record = {
      ...{ v: 1, outboundId: id, outboundSeq: 4, key, target: to, state: 'delivered', attempt: 1, at: 7 },
      ...change,
    };
    return ports.custody.append(record as CustodyRecord, 0);
  };
  await write('4.0', { messageId: '5513' });
  await write('5.0', { state: 'sending' });
  const parts = { cuts: [{ end: 3, next: 4 }], digest: 'd', done: ['5514', '5515'] };
  await write('6.0', { v: 2, attempt: 2, parts });
  const list = async (query = '') => (await call('GET', `/v1/deliveries/delivered${query}`)).body;
  const sent = { sessionKey: key, at: 7 };
  const [newest, oldest] = [
    {
      ...{ outboundId: '6.0', target: { channel: 'telegram', to: '6.0' }, attempt: 2 },
      ...{ messageIds: ['5514', '5515'], parts: { sent: 2, of: 2 }, ...sent },
    },
    { outboundId: '4.0', target: { channel: 'telegram', to: '4.0' }, attempt: 1, messageIds: ['5513'], ...sent },
  ];
  expect(await list()).toEqual({
    delivered: [
      { seq: expect.any(Number), ...newest },
      { seq: expect.any(Number), ...oldest },
    ],
    next: null,
  });
  const first = await list('?limit=1');
  expect(first).toMatchObject({ delivered: [newest], next: first.delivered[0].seq });
  expect(await list(`?limit=1&before=${first.next}`)).toMatchObject({ delivered: [oldest], next: null });
});
