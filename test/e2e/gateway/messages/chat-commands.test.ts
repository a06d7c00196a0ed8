import { expect, test } from 'vitest';
import { admit } from '../../../../shared/domain/routing/pairing.ts';
import { pathOf, startWorld } from '../setup.ts';

const key = 'agent:main:main';

/** Says something at the gateway and waits for what comes back. */
const sayer = async () => {
  const { call, host, ports } = await startWorld();
  const say = async (text: string, more: object = {}, at = key) =>
    (await call('POST', pathOf(at, '/messages?wait=10'), { body: { text, ...more } })).body;
  const rpc = async (method: string, params: object) => (await call('POST', '/v1/rpc', { body: { method, params } })).body;
  return { call, say, rpc, host, ports };
};

test('A11/123: /status at the gateway is answered by Natter, and the run has the answer', async () => {
  const { say } = await sayer();
  await say('hello');
  const { status, reply } = await say('/status');
  expect(status).toBe('ok');
  expect(reply).toContain('Agent: reachable. Model: offline');
  expect(reply).toContain('2 messages');
});

test('A4/53, 55: /new at the gateway begins a new generation, with a greeting or with the rest', async () => {
  const { call, say } = await sayer();
  await say('hello');
  expect((await say('/new what now?')).reply).toBe('you said: what now?');
  expect((await say('/new')).reply).toContain('you said: This session has just begun anew.');
  expect((await call('GET', pathOf(key, '/state'))).body.context).toMatchObject({ generation: 3, messages: 2 });
});

test('A5/67: who says /new at the gateway with a token that is nobody in particular does not take part', async () => {
  const { call, say } = await sayer();
  for (const text of ['hello', '/new what now?', '/new', '/send on']) await say(text);
  expect((await call('GET', pathOf(key))).body.participants).toEqual([]);
  const own = 'agent:main:cli:ann';
  await say('/new I am ann', { sender: { id: 'ann' } }, own);
  expect((await call('GET', pathOf(own))).body.participants).toEqual(['ann']);
});

test("D7: the owner's token begins the main session anew; who it speaks for does not", async () => {
  const { call, say } = await sayer();
  await say('hello');
  for (const text of ['/new', '/reset hi', '/compact'])
    expect((await say(text, { sender: { id: 'ann' } })).reply).toMatch(/^Nothing was changed: only the owner may use/);
  expect((await call('GET', pathOf(key, '/state'))).body.context).toMatchObject({ generation: 1, messages: 2 });
});

test("D8: the owner's /pair at the gateway approves a code, on whatever channel; that of who it speaks for does not", async () => {
  const { say, ports } = await sayer();
  const stranger = { senderId: 'jo', code: 'ABCDEFGH', inboundId: '1' };
  await ports.pairings.change('irc', (record) => admit(record, stranger, Date.now()));
  expect((await say('/pair abcdefgh', { sender: { id: 'ann' } })).reply).toMatch(/^Nothing was approved: only the owner/);
  expect((await say('/pair XXXXXXXX')).reply).toMatch(/^Nothing was approved: no such code waits/);
  expect((await say('/pair abcdefgh')).reply).toBe('Approved: irc:jo may write to me now.');
  expect(await ports.pairings.all()).toMatchObject([{ channel: 'irc', requests: [], paired: [{ senderId: 'jo' }] }]);
});

test("A9/94: the owner's token turns sending off; who it speaks for does not", async () => {
  const { call, say } = await sayer();
  await say('hello');
  expect((await say('/send off', { sender: { id: 'ann' } })).reply).toBe(
    'Only the owner may use /send. Nobody is named in agent.owners.',
  );
  expect((await say('/send off')).reply).toBe('Sending is off for this session.');
  expect((await call('GET', pathOf(key, '/state'))).body.context.settings).toEqual({ sendPolicy: 'deny' });
});

test('A11/125: /stop at the gateway is taken though the queue is full', async () => {
  const { call, say, host } = await sayer();
  const post = (text: string) => call('POST', pathOf(key, '/messages'), { body: { text } });
  host.hold();
  await post('slow');
  await Promise.all(Array.from({ length: 100 }, (_, index) => post(`waiting ${index}`)));
  await expect.poll(async () => (await post('one too many')).status).toBe(429);
  expect((await say('/stop')).reply).toMatch(/^Stopped the answer( and cleared \d+ waiting messages?)?\.$/);
  await host.release();
  expect((await say('and on')).reply).toBe('you said: and on');
});

test('A11: with commands: false, and from programs, a text is a text', async () => {
  const { say, rpc } = await sayer();
  expect((await say('/status', { commands: false })).reply).toBe('you said: /status');
  const { result } = await rpc('agent', { sessionKey: key, message: '/new', timeoutSeconds: 10 });
  expect(result.reply).toBe('you said: /new');
  const sent = await rpc('chat.send', { sessionKey: key, message: '/status' });
  const waited = await rpc('agent.wait', { runId: sent.result.runId, timeoutMs: 10_000 });
  expect(waited.result.reply).toContain('Agent: reachable');
});
