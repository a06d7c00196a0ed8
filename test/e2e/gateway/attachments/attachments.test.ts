import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { AttachmentSweep } from '../../../../services/checkpoint/retention/attachment-sweep.ts';
import { createClient } from '../../../../shared/client/main.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import type { Ports } from '../../../../shared/ports/index.ts';
import { onceForFile } from '../../../support/afterwards.ts';
import { dataUrl, digestOf, png } from '../../../support/files.ts';
import { startWhole, type Whole } from '../../system/whole.ts';
import { secretOf } from '../access/access-rig.ts';
import { agentAt, endOf } from '../protocols/agui-rig.ts';
import { overHttp, use } from '../protocols/mcp-rig.ts';
import { pathOf } from '../setup.ts';

/** ADR 27: attachments in the interfaces of our own, the AI SDK and AG-UI, and on their way out. */

// Each test has sessions of its own.
const system = onceForFile(async () => {
  const whole = await startWhole();
  const url = whole.gateways[0]?.url ?? '';
  return { whole, url };
});
const attachmentsIn = async (whole: Whole, key: string) =>
  (await whole.eventsOf(key, 'user_message')).flatMap(({ message }) => message.attachments ?? []);
const picture = { data: png.toString('base64'), type: 'image/png', name: 'ä b.png' };
const kept = { type: 'image/png', bytes: png.length, digest: digestOf(png) };

/** The file at its link, with its headers. */
const fetchFile = (url: string, key: string, digest: string): Promise<Response> =>
  fetch(url + pathOf(key, `/attachments/${digest}`), { headers: { authorization: `Bearer ${secretOf('owner')}` } });

describe('a message with files', () => {
  test('is kept with references, answered, listed, and its files are handed out as they came, to be saved and not shown', async () => {
    const { whole, url } = system();
    const key = 'agent:main:cli:posted';
    const html = Buffer.from('<script>alert(1)</script>');
    const body = { text: 'look', attachments: [picture, { data: dataUrl('text/html', html) }] };
    const answer = await whole.as.owner('POST', pathOf(key, '/messages?wait=10'), { body });
    const line = `[Attached: ä b.png, image/png, 68 bytes; a file, text/html, ${html.length} bytes]`;
    expect(answer.body).toMatchObject({ status: 'ok', reply: `You said: look\n${line}` });
    const { messages } = (await whole.as.owner('GET', pathOf(key, '/messages'))).body;
    expect(messages[0]).toMatchObject({ text: 'look', attachments: [{ name: 'ä b.png', ...kept }, { type: 'text/html' }] });
    const image = await fetchFile(url, key, kept.digest);
    expect(Buffer.from(await image.arrayBuffer())).toEqual(png);
    expect(Object.fromEntries(image.headers)).toMatchObject({
      ...{ 'content-type': 'image/png', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
      'content-disposition': `attachment; filename="__b.png"; filename*=UTF-8''%C3%A4%20b.png`,
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
    const page = await fetchFile(url, key, digestOf(html));
    const empty = await whole.as.owner('POST', pathOf(key, '/messages'), { body: { text: '', attachments: [] } });
    expect([empty.status, empty.body.detail]).toEqual([400, 'text: is empty; send some text, or files']);
    expect([page.headers.get('content-type'), await page.text()]).toEqual(['text/plain; charset=utf-8', String(html)]);
  });

  test('I2: posted again with its key it is one message, and its files are stored once', async () => {
    const { whole } = system();
    const key = 'agent:main:cli:twice';
    const post = () =>
      whole.as.owner('POST', pathOf(key, '/messages?wait=10'), {
        body: { text: 'look', attachments: [picture] },
        headers: { 'idempotency-key': 'once' },
      });
    expect((await post()).body.runId).toBe((await post()).body.runId);
    expect(await attachmentsIn(whole, key)).toHaveLength(1);
    expect(await whole.memory.portsFor('test').attachments.of(key as SessionKey)).toHaveLength(1);
  });

  test('with a chat command or a time of its own it is refused, and nothing is kept', async () => {
    const { whole } = system();
    const key = 'agent:main:cli:refused';
    const post = (more: object) =>
      whole.as.owner('POST', pathOf(key, '/messages'), { body: { text: 'look', attachments: [picture], ...more } });
    expect((await post({ text: '/status' })).body).toMatchObject({ code: 'invalid', field: 'attachments' });
    expect((await post({ sendAt: '2999-01-01T00:00:00Z' })).body).toMatchObject({ code: 'invalid', field: 'attachments' });
    const wrong = { attachments: [{ data: '%%', type: 'image/png' }] };
    expect((await post(wrong)).body).toMatchObject({ code: 'invalid', field: 'attachments.0.data' });
    expect(await whole.memory.portsFor('test').attachments.of(key as SessionKey)).toEqual([]);
  });

  test('I8: a file is of its session alone', async () => {
    const { whole, url } = system();
    const [mine, other] = ['agent:main:telegram:dm:7', 'agent:main:cli:other'];
    for (const key of [mine, other]) await whole.as.owner('POST', pathOf(key, '/messages?wait=10'), { body: { text: 'hello' } });
    await whole.as.owner('POST', pathOf(other, '/messages?wait=10'), { body: { text: 'look', attachments: [picture] } });
    expect((await fetchFile(url, other, kept.digest)).status).toBe(200);
    const foreign = await fetchFile(url, mine, kept.digest);
    const never = await fetchFile(url, mine, 'a'.repeat(64));
    const bytes = async (response: Response) => ({ ...((await response.json()) as object), requestId: '' });
    expect([foreign.status, await bytes(foreign)]).toEqual([404, await bytes(never)]);
    expect((await fetchFile(url, other, 'x')).status).toBe(400);
  });
});

describe('a message by method', () => {
  const large = Buffer.concat([png, randomBytes(300_000)]);
  type Send = (url: string, params: object) => Promise<unknown>;
  const bySocket: Send = async (url, params) => {
    const connection = await createClient({ url, token: secretOf('owner'), WebSocket }).connect();
    return connection.call('chat.send', params).finally(() => connection.close());
  };
  const byRpc: Send = (_, params) => system().whole.as.owner('POST', '/v1/rpc', { body: { method: 'agent', params } });
  const byMcp: Send = async (url, params) => use(await overHttp(url, secretOf('owner')), 'sessions_send', params);

  test.each([
    ['a WebSocket', 'socket', bySocket, png],
    ['RPC', 'rpc', byRpc, large],
    ['MCP', 'mcp', byMcp, large],
  ])('through %s has files, which the client library hands out again', async (_, name, send, content) => {
    const { whole, url } = system();
    const sessionKey = `agent:main:cli:by-${name}`;
    await send(url, { sessionKey, message: 'look', attachments: [{ data: content.toString('base64') }] });
    await whole.until(async () => expect(await attachmentsIn(whole, sessionKey)).toHaveLength(1));
    const { sessions } = createClient({ url, token: secretOf('owner') });
    expect(Buffer.from(await sessions.attachment(sessionKey, digestOf(content))).equals(content)).toBe(true);
    await expect(sessions.attachment(sessionKey, 'a'.repeat(64))).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });
});

describe('a gateway that fails between the file and its message', () => {
  /** Posts the picture by a gateway that cannot do something, and once more, with the same key, by one that can. */
  const postTwice = async (key: string, broken: (ports: Ports) => Partial<Ports>, again: boolean) => {
    const { whole } = system();
    const own = whole.memory.portsFor(`gateway-${key}`);
    const failing = await whole.openGatewayWith({ ...own, ...broken(own) });
    const asked = { body: { text: 'look', attachments: [picture] }, headers: { 'idempotency-key': key } };
    const { status } = await whole.callersAt(failing).owner('POST', pathOf(key, '/messages'), asked);
    expect(status).toBe(503);
    expect(await whole.commitsOf(key)).toEqual([]);
    if (again) await whole.as.owner('POST', pathOf(key, '/messages?wait=10'), asked);
    return whole.memory.portsFor('checkpoint');
  };
  const fails = async () => Promise.reject(new NatterError('unavailable', 'the broker is away'));
  const died = ({ commands }: Ports) => ({ commands: { ...commands, publish: fails } });

  test('I1: it takes no message whose file is not stored', async () => {
    const key = 'agent:main:cli:unstored';
    const { attachments } = await postTwice(key, ({ attachments }) => ({ attachments: { ...attachments, put: fails } }), false);
    expect(await attachments.of(key as SessionKey)).toEqual([]);
  });

  test('leaves a file that nobody gets and the sweep removes; sent again it is one message with one file', async () => {
    const [lost, sent] = ['agent:main:cli:lost', 'agent:main:cli:sent'];
    const { whole, url } = system();
    const ports = await postTwice(lost, died, false);
    await postTwice(sent, died, true);
    const stored = async () =>
      (await Promise.all([lost, sent].map((key) => ports.attachments.of(key as SessionKey)))).map((each) => each.length);
    expect(await stored()).toEqual([1, 1]);
    expect((await fetchFile(url, lost, kept.digest)).status).toBe(404);
    expect((await fetchFile(url, sent, kept.digest)).status).toBe(200);
    expect(await attachmentsIn(whole, sent)).toHaveLength(1);
    const clock = { ...systemClock, now: () => systemClock.now() + 2 * 86_400_000 };
    await new AttachmentSweep({ ...ports, clock }, pino({ level: 'silent' })).run(new AbortController().signal);
    expect(await stored()).toEqual([0, 1]);
  });
});

describe('user interfaces', () => {
  test("the AI SDK's file parts and AG-UI's binary and media parts are kept alike", async () => {
    const { whole, url } = system();
    const [ui, agui, older] = ['agent:main:cli:ui', 'agent:main:cli:agui', 'agent:main:cli:older'];
    const parts = [{ type: 'file', mediaType: 'image/png', url: dataUrl('image/png', png), filename: 'a.png' }];
    const asked = await whole.as.owner('POST', '/v1/ui/chat', {
      body: { id: ui, messages: [{ id: 'u1', role: 'user', parts }], trigger: 'submit-message' },
    });
    expect(asked.status).toBe(200);
    const { agent, run } = agentAt(url, 'owner', agui);
    const source = { type: 'data' as const, value: picture.data, mimeType: 'image/png' };
    agent.addMessage({ id: 'u', role: 'user', content: [{ type: 'image', source }] });
    endOf(await run());
    // As clients before 1.0 say it.
    const content = [{ type: 'binary', mimeType: 'image/png', data: picture.data, filename: 'a.png' }];
    const body = {
      threadId: older,
      runId: 'r',
      messages: [{ id: 'u', role: 'user', content }],
      tools: [],
      context: [],
      state: {},
    };
    expect((await whole.as.owner('POST', '/v1/agui', { body })).status).toBe(200);
    expect(await attachmentsIn(whole, ui)).toEqual([{ name: 'a.png', ...kept }]);
    expect(await attachmentsIn(whole, agui)).toEqual([kept]);
    expect(await attachmentsIn(whole, older)).toEqual([{ name: 'a.png', ...kept }]);
  });

  test('the AI SDK is told what is not taken', async () => {
    const parts = [{ type: 'file', mediaType: 'image/png', url: 'https://example.org/a.png' }];
    const { body } = await system().whole.as.owner('POST', '/v1/ui/chat', {
      body: { id: 'agent:main:cli:ui', messages: [{ id: 'u2', role: 'user', parts }] },
    });
    expect(body).toMatchObject({ code: 'invalid', field: 'messages.0.parts.0' });
    expect(body.detail).toMatch(/addresses are not fetched; send the file itself/);
  });
});
