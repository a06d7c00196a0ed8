import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { statusCommand } from '../../../services/cli/commands/operate/status.ts';
import { sessionsCommand } from '../../../services/cli/commands/sessions/sessions.ts';
import { gatewayCommand } from '../../../services/cli/commands/talk/gateway.ts';
import { sendCommand } from '../../../services/cli/commands/talk/send.ts';
import { natterWith } from '../../support/natter.ts';
import { type Call, callerOf, pathOf, token } from '../gateway/setup.ts';
import { clockFrom, startWhole } from './whole.ts';

/** One truth, whoever asks and wherever they are: the gateway's (A1, A2/18, A5/71, A12/128-130). */

const main = 'agent:main:main';
const home = mkdtempSync(join(tmpdir(), 'natter-client-'));
afterAll(() => rmSync(home, { recursive: true }));

const rpc = async (call: Call, method: string, params: object = {}) =>
  (await call('POST', '/v1/rpc', { body: { method, params } })).body.result;

describe('a client on another machine', () => {
  /** Sessions of this machine, which are none of the gateway's. */
  const decoy = 'agent:main:decoy';
  const folder = join(home, 'agents', 'main', 'sessions');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'sessions.json'), JSON.stringify({ [decoy]: { sessionId: 'decoy', updatedAt: Date.now() } }));
  writeFileSync(join(folder, 'decoy.jsonl'), `${JSON.stringify({ role: 'user', content: 'a decoy' })}\n`);
  writeFileSync(join(home, 'natter.json'), `{ session: { store: ${JSON.stringify(folder)} }, channels: { irc: {} } }`);
  const natter = (url: string, ...words: string[]) =>
    natterWith([sessionsCommand, statusCommand, gatewayCommand], { home })(...words, '--url', url, '--token', token);

  test('A1/1, 2, 4, A12/128-130: lists, counts and the store are the gateway’s, whatever lies on its own disk', async () => {
    const store = '/srv/there/{agentId}/sessions.json';
    const whole = await startWhole({ session: { store }, more: { dataDir: '/srv/there' } });
    const { url } = whole.gateways[0] ?? { url: '' };
    for (const text of ['hello', '[[think 5]] [[steps 3]] and count']) {
      await whole.say('telegram:1', text);
      await whole.delivered();
    }
    const { body: row } = await whole.as.owner('GET', pathOf('agent:main:telegram:default:dm:1'));
    const shown = async (...words: string[]) => {
      const text = await natter(url, ...words);
      expect(text).not.toContain('decoy');
      return JSON.parse(text);
    };
    const counts = { inputTokens: row.inputTokens, outputTokens: row.outputTokens, totalTokens: row.totalTokens };
    await whole.until(async () =>
      expect((await shown('sessions', '--json')).sessions).toMatchObject([{ key: row.key, ...counts }]),
    );
    expect(await shown('gateway', 'call', 'sessions.list')).toMatchObject({ sessions: [{ key: row.key, ...counts }] });
    expect(await shown('status', '--json')).toMatchObject({
      ...{ ready: true, url, store, dataDir: '/srv/there', dangers: [] },
      sessions: [{ key: row.key, ...counts }],
    });
    expect(await shown('gateway', 'call', 'status')).toMatchObject({ store, sessions: [{ key: row.key }] });
    const text = await natter(url, 'status');
    expect(text).toContain(`store    ${store}`);
    expect(text).not.toContain(home);
  });

  test('A3/31, A1/2: natter status warns of the gateway’s dangers and not of its own; a participant is not told', async () => {
    const whole = await startWhole({ session: { dmScope: 'main' }, more: { channels: { slack: {} }, dataDir: '/srv/there' } });
    const text = await natter(whole.gateways[0]?.url ?? '', 'status');
    expect(text).toMatch(/danger {3}anybody may write on slack, and with session.dmScope "main"/);
    expect(text).not.toContain('irc');
    expect(Object.keys(await rpc(whole.as.ann, 'status'))).toEqual(['status', 'problems', 'details', 'version', 'sessions']);
  });

  test('A12/129: sessions lists every entry, --active those of the last minutes', async () => {
    const clock = clockFrom('2026-03-28T12:00:00Z');
    const whole = await startWhole({ clock });
    const { url } = whole.gateways[0] ?? { url: '' };
    await whole.say('telegram:1', 'early');
    await whole.settled();
    clock.goTo('2026-03-28T13:00:00Z');
    await whole.say('telegram:2', 'late');
    const keys = async (...words: string[]) =>
      JSON.parse(await natter(url, 'sessions', '--json', ...words)).sessions.map(({ key }: { key: string }) => key);
    const [early, late] = ['agent:main:telegram:default:dm:1', 'agent:main:telegram:default:dm:bob'];
    await whole.until(async () => expect(await keys()).toEqual([late, early]));
    expect(await keys('--active', '30')).toEqual([late]);
    expect(await keys('--active', '90')).toEqual([late, early]);
    expect(await natter(url, 'sessions')).toMatch(/KEY .*\n.*dm:bob.*\n.*dm:1/);
  });
});

test('A1/3, 4: the counts of a row are the sums of what the log says of the present session, at every gateway', async () => {
  const whole = await startWhole({ session: { dmScope: 'main' } });
  for (const text of ['before', '/new first', '[[think 5]] [[steps 3]] second', '[[fail]] third']) {
    await whole.say('telegram:1', text);
    await whole.delivered();
  }
  const commits = await whole.commitsOf(main);
  const present = commits.filter(({ sessionId }) => sessionId === commits.at(-1)?.sessionId).flatMap(({ events }) => events);
  const steps = present.flatMap((event) => (event.type === 'model_step' ? [event.usage] : []));
  const sum = (name: 'inputTokens' | 'outputTokens' | 'totalTokens') => steps.reduce((total, usage) => total + usage[name], 0);
  const last = steps.at(-1) ?? { inputTokens: 0, outputTokens: 0 };
  const counts = {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    totalTokens: sum('totalTokens'),
    contextTokens: last.inputTokens + last.outputTokens,
  };
  expect([steps.length, counts.totalTokens > 0]).toEqual([4, true]);
  const messages = present.filter(({ type }) => type === 'user_message' || type === 'assistant_message').length;
  const { owner } = whole.as;
  expect((await owner('GET', pathOf(main))).body).toMatchObject({
    ...counts,
    messageCount: messages,
    completedTurns: 2,
    failedTurns: 1,
  });
  expect((await owner('GET', pathOf(main, '/state'))).body.context).toMatchObject({ usage: counts, messages });
  await whole.until(async () =>
    expect((await owner('GET', '/v1/sessions')).body.sessions).toMatchObject([{ ...counts, messageCount: messages }]),
  );
  expect(await rpc(owner, 'sessions.list')).toMatchObject({ sessions: [{ ...counts, messageCount: messages }] });
});

test('A1/5: what a channel, the API, the command line and a schedule say to one session is one thread with one session id', async () => {
  const whole = await startWhole({ session: { dmScope: 'main' } });
  const { owner } = whole.as;
  await whole.say('telegram:1', 'from a channel');
  await whole.settled();
  await owner('POST', pathOf(main, '/messages?wait=10'), { body: { text: 'from the API' } });
  await rpc(owner, 'agent', { sessionKey: 'main', message: 'from a call', timeoutSeconds: 10 });
  const natter = natterWith([sendCommand], { home });
  const { url = '' } = whole.gateways[0] ?? {};
  const said = await natter('send', 'main', 'from the command line', '--wait', '10', '--url', url, '--token', token);
  expect(said).toContain('from the command line');
  const later = await owner('POST', pathOf(main, '/messages'), { body: { text: 'from a schedule', sendAt: Date.now() + 1_500 } });
  expect(later.body.status).toBe('scheduled');
  await whole.until(async () =>
    expect((await whole.eventsOf(main, 'user_message')).map(({ message }) => message.text)).toEqual(
      ['a channel', 'the API', 'a call', 'the command line', 'a schedule'].map((source) => `from ${source}`),
    ),
  );
  const commits = await whole.commitsOf(main);
  expect(new Set(commits.map(({ sessionId }) => sessionId)).size).toBe(1);
  expect(commits.filter(({ events }) => events.some(({ type }) => type === 'session_opened'))).toHaveLength(1);
  expect(new Set((await whole.memory.events.page({ after: 0, limit: 1_000 })).commits.map(({ key }) => key))).toEqual(
    new Set([main]),
  );
});

test('A1/6, C2: desktop chat and direct calls go to the primary session; older ones stay, and can be read', async () => {
  const whole = await startWhole({ session: { dmScope: 'main', mainKey: 'home' } });
  const { owner } = whole.as;
  const primary = 'agent:main:home';
  const older = 'agent:main:cli:2024';
  await owner('POST', pathOf(older, '/messages?wait=10'), { body: { text: 'long ago' } });
  await rpc(owner, 'agent', { sessionKey: 'main', message: 'a direct call', timeoutSeconds: 10 });
  await rpc(owner, 'chat.send', { sessionKey: 'main', message: 'desktop chat' });
  for (const short of ['main', 'home']) await owner('POST', pathOf(short, '/messages?wait=10'), { body: { text: short } });
  await whole.say('telegram:1', 'by phone');
  await whole.settled();
  expect((await whole.eventsOf(primary, 'user_message')).map(({ message }) => message.text)).toEqual([
    'a direct call',
    'desktop chat',
    'main',
    'home',
    'by phone',
  ]);
  await whole.until(async () => {
    const { sessions } = await rpc(owner, 'sessions.list');
    expect(sessions.map(({ key }: { key: string }) => key)).toEqual([primary, older]);
  });
  expect((await rpc(owner, 'chat.history', { sessionKey: 'cli:2024' })).messages[0].content[0].text).toBe('long ago');
});

describe('two gateways', () => {
  const key = 'agent:main:telegram:default:dm:1';

  test('A2/18, A5/71: a client of either one sees the backlog and what is said live, wherever it was said', async () => {
    const whole = await startWhole({ gateways: 2 });
    const [here, there] = whole.gateways;
    if (!here || !there) throw new Error('two gateways');
    await whole.say('telegram:1', 'early');
    await whole.delivered();
    const streams = [
      await whole.stream('owner', pathOf(key, '/events?after=0'), here),
      await whole.stream('ann', pathOf(key, '/events?after=0'), there),
      await whole.stream('ann', '/v1/events?after=0', there),
    ];
    await whole.until(() =>
      expect(streams.map(({ messages }) => messages.at(-1)?.event)).toEqual(Array(3).fill('turn_completed')),
    );
    await whole.callersAt(there).ann('POST', pathOf(key, '/messages'), { body: { text: 'said there' } });
    await whole.as.ann('POST', pathOf(key, '/messages'), { body: { text: 'said here' } });
    const said = ['early', 'said there', 'said here'].map((text) => `You said: ${text}`);
    const replies = ({ messages }: (typeof streams)[number]) =>
      messages.flatMap(({ event, data }) => (event === 'assistant_message' ? [JSON.parse(data).text] : []));
    await whole.until(() => expect(streams.map(replies)).toEqual([said, said, said]));
    const ids = streams.map(({ messages }) => messages.map(({ id }) => id));
    expect([ids[1], ids[2]]).toEqual([ids[0], ids[0]]);
    expect(new Set(ids[0]).size).toBe(ids[0]?.length);
  });

  test('A2/18: the log outlives the gateway: history, streams and states are the same at the next one', async () => {
    const whole = await startWhole();
    for (const text of ['one', '/new two']) {
      await whole.say('telegram:1', text);
      await whole.delivered();
    }
    await whole.until(async () =>
      expect((await whole.as.owner('GET', '/v1/sessions')).body.sessions).toMatchObject([{ generation: 2 }]),
    );
    const paths = [
      ...['/messages', '/events', '/commits', '/state', '/state?at=1'].map((rest) => pathOf(key, rest)),
      '/v1/sessions',
      '/v1/events',
    ];
    const everything = (call: Call) => Promise.all(paths.map(async (path) => (await call('GET', path)).body));
    const before = await everything(whole.as.owner);
    await whole.gateways[0]?.stop(1_000);
    const next = await whole.openGatewayWith();
    await whole.until(async () => expect(await everything(callerOf(next.url))).toEqual(before));
    expect(before[0].messages.map(({ text }: { text: string }) => text)).toEqual([
      'one',
      'You said: one',
      'two',
      'You said: two',
    ]);
    const stream = await whole.stream('owner', '/v1/events?after=0', next);
    await whole.until(() =>
      expect(stream.messages.map(({ id }) => id)).toEqual(before[6].events.map(({ id }: { id: string }) => id)),
    );
  });
});
