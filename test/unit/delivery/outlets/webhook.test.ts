import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { webhookOutlet } from '../../../../services/delivery/outlets/webhook.ts';
import { signatureOf } from '../../../../services/delivery/outlets/webhook-request.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { OutboundPart } from '../../../../shared/ports/outlet.ts';
import { afterwards } from '../../../support/afterwards.ts';

const now = Date.parse('2026-03-04T12:00:00Z');
const part: OutboundPart = {
  ...{ id: '7.0', seq: 7, key: 'agent:main:main' as SessionKey, turnId: 't1' },
  ...{ target: { channel: 'chat', to: 'ann' }, kind: 'assistant_message', text: 'hi' },
};

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
}
/** A receiver that answers so; `null`: it cuts the connection once the message is there. */
const receiver = async (answer: Answer | null, heard: (request: IncomingMessage) => void = () => {}) => {
  const server = createServer((request, response) => {
    heard(request);
    request.resume().once('end', () => {
      if (answer === null) request.socket.destroy();
      else response.writeHead(answer.status, answer.headers).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterwards(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const options = {
    channel: 'chat',
    url,
    secret: 's',
    timeoutMs: 60_000,
    attempts: 1,
    idempotent: true,
    clock: { now: () => now },
  };
  return { url, options };
};
/** What the outlet makes of this answer. */
const resultOf = async (answer: Answer | null, more: object = {}) => {
  const { options } = await receiver(answer);
  return webhookOutlet({ ...options, ...more }).send(part, new AbortController().signal);
};
const refused = (failure: string, afterMs = 0) => ({ kind: 'refused', failure, afterMs });
const gone = { kind: 'refused', failure: 'not_found' };
const unknown = { kind: 'unknown' };

describe('D12: what a webhook means by its status', () => {
  test.each<[number, Record<string, string>, object]>([
    [200, {}, { kind: 'sent' }],
    [204, { 'natter-message-id': 'm-1' }, { kind: 'sent', messageId: 'm-1' }],
    [299, {}, { kind: 'sent' }],
    [300, {}, gone],
    [301, { location: 'http://127.0.0.1:1/' }, gone],
    [304, {}, gone],
    [308, { location: 'http://127.0.0.1:1/' }, gone],
    [400, {}, refused('invalid')],
    [401, {}, refused('auth')],
    [402, {}, gone],
    [403, {}, refused('permission')],
    [404, {}, gone],
    [405, {}, gone],
    [408, {}, unknown],
    [409, {}, gone],
    [410, {}, refused('gone')],
    [413, {}, refused('invalid')],
    [418, {}, gone],
    [422, {}, refused('invalid')],
    [429, {}, refused('rate_limit')],
    [429, { 'retry-after': '70' }, refused('rate_limit', 70_000)],
    [429, { 'retry-after': '3600' }, refused('rate_limit', 3_600_000)],
    [429, { 'retry-after': 'Wed, 04 Mar 2026 13:00:00 GMT' }, refused('rate_limit', 3_600_000)],
    [429, { 'retry-after': 'Wed, 04 Mar 2026 11:00:00 GMT' }, refused('rate_limit')],
    [429, { 'retry-after': '-5' }, refused('rate_limit')],
    [429, { 'retry-after': 'soon' }, refused('rate_limit')],
    [429, { 'retry-after': '1e999' }, refused('rate_limit')],
    [500, {}, unknown],
    [500, { 'retry-after': '9' }, unknown],
    [502, {}, unknown],
    [503, {}, unknown],
    [503, { 'retry-after': '9' }, refused('transient', 9_000)],
    [504, {}, unknown],
    [599, {}, unknown],
  ])('%i with %j', async (status, headers, expected) => {
    expect(await resultOf({ status, headers })).toMatchObject({ ...expected, detail: `HTTP ${status}` });
  });

  test('a 407 looks like a broken connection: fetch hands its answer to nobody', async () => {
    expect(await resultOf({ status: 407 })).toMatchObject(unknown);
  });

  test('a connection that breaks before the answer, and one that has none in time, may have been heard', async () => {
    expect(await resultOf(null)).toMatchObject(unknown);
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    afterwards(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    expect(await resultOf(null, { url, timeoutMs: 20 })).toMatchObject({ kind: 'unknown', detail: 'no answer within 20 ms' });
  });

  test('where nobody listens, it has certainly not arrived', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    expect(await resultOf(null, { url: `http://127.0.0.1:${port}/` })).toMatchObject({
      ...{ kind: 'refused', failure: 'transient' },
      detail: expect.stringContaining('ECONNREFUSED'),
    });
    expect(await resultOf(null, { url: 'http://nobody.invalid/' })).toMatchObject({ kind: 'refused', failure: 'transient' });
  });

  test.each([
    [true, { by: 'key' }],
    [false, { by: 'neither' }],
  ])('an unknown send to one that says idempotent: %s', (idempotent, unknownSend) => {
    const options = { channel: 'chat', url: 'http://x', secret: 's', timeoutMs: 1, attempts: 1, clock: { now: () => now } };
    expect(webhookOutlet({ ...options, idempotent }).unknownSend).toEqual(unknownSend);
  });

  test('one that can be asked is asked, also if it would recognise a repeat: that costs no second copy of the text', () => {
    const options = { channel: 'chat', url: 'http://x', secret: 's', timeoutMs: 1, attempts: 1, clock: { now: () => now } };
    expect(webhookOutlet({ ...options, idempotent: true, statusUrl: 'http://x/status' }).unknownSend.by).toBe('ask');
  });

  test.each<[string, Answer | null, object]>([
    [
      'has it',
      { status: 204, headers: { 'natter-delivery-id': '7.0', 'natter-message-id': 'm-1' } },
      { kind: 'sent', messageId: 'm-1' },
    ],
    ['has it not', { status: 404, headers: { 'natter-delivery-id': '7.0' } }, { kind: 'not_sent' }],
    ['cannot say', { status: 503, headers: { 'natter-delivery-id': '7.0' } }, { kind: 'unresolved' }],
    ['says it of another message', { status: 200, headers: { 'natter-delivery-id': '7.1' } }, { kind: 'unresolved' }],
    ['shows a page to everybody', { status: 200 }, { kind: 'unresolved' }],
    ['does not know the address', { status: 404 }, { kind: 'unresolved' }],
    [
      'asks to go elsewhere',
      { status: 302, headers: { 'natter-delivery-id': '7.0', location: 'http://127.0.0.1:1/' } },
      { kind: 'unresolved' },
    ],
    ['cuts the connection', null, { kind: 'unresolved' }],
  ])('one that can be asked, and %s', async (_, answer, found) => {
    const asked: IncomingMessage[] = [];
    const { url, options } = await receiver(answer, (request) => asked.push(request));
    const { unknownSend } = webhookOutlet({ ...options, idempotent: false, statusUrl: `${url}status?of=chat` });
    expect(unknownSend).toMatchObject({ by: 'ask', settlesMs: 180_000 });
    if (unknownSend.by !== 'ask') throw new Error(unknownSend.by);
    expect(await unknownSend.find(part, now, new AbortController().signal)).toMatchObject(found);
    expect(asked.map(({ method, url: path, headers }) => [method, path, headers['natter-signature']])).toEqual([
      ['GET', '/status?of=chat&id=7.0', signatureOf('s', String(now / 1_000), '7.0', '')],
    ]);
  });
});
