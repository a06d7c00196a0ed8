import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect as natsTwo, nkeyAuthenticator } from 'nats';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { credentialsOf } from '../../../services/cli/broker/users.ts';
import { agentAt, shown as shownByAgent } from '../gateway/protocols/agui-rig.ts';
import { clients, use } from '../gateway/protocols/mcp-rig.ts';
import { clientFor, readChunks, user } from '../gateway/protocols/openai-rig.ts';
import { chatAt, shown } from '../gateway/protocols/ui-rig.ts';
import { token } from '../gateway/setup.ts';

/** Issue 5, done when: the official clients, unmodified, each have a conversation with a running `natter up`. */

const program = fileURLToPath(new URL('../../../dist/services/cli/main.js', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'natter-clients-'));
const model = 'natter/main';
let up: ChildProcess;
let url = '';

beforeAll(async () => {
  writeFileSync(join(dataDir, 'natter.json'), JSON.stringify({ gateway: { token }, log: { level: 'warn' } }));
  const env = {
    ...process.env,
    ...{ XDG_CACHE_HOME: process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), HOME: dataDir },
    ...{ NATTER_DATA_DIR: dataDir, NATTER_URL: '', NATTER_TOKEN: '', NATS_URL: '', NO_COLOR: '1' },
  };
  up = spawn(process.execPath, [program, 'up', '--port', '0', '--no-chat'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const printed: string[] = [];
  createInterface({ input: up.stdout as NodeJS.ReadableStream }).on('line', (line) => printed.push(line));
  await vi.waitFor(
    () => {
      expect(up.exitCode ?? printed.join('\n')).toMatch(/natter is up {2}http/);
    },
    { timeout: 60_000 },
  );
  url = /natter is up {2}(\S+)/.exec(printed.join('\n'))?.[1] ?? '';
}, 120_000);
afterAll(async () => {
  const gone = once(up, 'exit');
  if (up.kill('SIGTERM')) await gone;
  rmSync(dataDir, { recursive: true, force: true });
});

test('openai: models, chat completions and responses, streamed and not', async () => {
  const openai = clientFor(url);
  expect((await openai.models.list()).data.map(({ id }) => id)).toContain(model);
  const asked = { model, user: 'ann', messages: [user('hello')] };
  const { choices } = await openai.chat.completions.create(asked);
  expect(choices[0]?.message.content).toBe('You said: hello');
  expect((await readChunks(await openai.chat.completions.create({ ...asked, stream: true }))).text).toBe('You said: hello');
  const first = await openai.responses.create({ model, input: 'one' });
  const second = await openai.responses.create({ model, input: 'two', previous_response_id: first.id });
  expect([first.output_text, second.output_text]).toEqual(['You said: one', 'You said: two']);
  const streamed: string[] = [];
  for await (const event of await openai.responses.create({ model, input: 'three', stream: true }))
    if (event.type === 'response.output_text.delta') streamed.push(event.delta);
  expect(streamed.join('')).toBe('You said: three');
});

test.each(Object.entries(clients))('MCP: %s', async (name, connect) => {
  const client = await connect(url, token);
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toContain('sessions_send');
  const [sessionKey, message] = [`agent:main:mcp:${name.replaceAll(' ', '-')}`, `hello from ${name}`];
  const sent = await use(client, 'sessions_send', { sessionKey, message, timeoutSeconds: 20 });
  expect(sent).toMatchObject({ status: 'ok', reply: `You said: ${message}` });
  const { messages } = await use(client, 'sessions_history', { sessionKey });
  expect(messages.map(({ content: [{ text }] }: { content: [{ text: string }] }) => text)).toEqual([
    message,
    `You said: ${message}`,
  ]);
});

test('AG-UI: two runs in one thread', async () => {
  const { agent, say } = agentAt(url, 'owner', 'a-thread');
  await say('hello');
  await say('again');
  expect(shownByAgent(agent)).toEqual([
    ['user', 'hello'],
    ['assistant', 'You said: hello'],
    ['user', 'again'],
    ['assistant', 'You said: again'],
  ]);
});

test('the AI SDK: two messages in one chat, and nothing to resume when it is idle', async () => {
  const { chat, streams } = chatAt(url, 'owner', 'a-chat');
  await chat.sendMessage({ text: 'hello' });
  await chat.sendMessage({ text: 'again' });
  expect([chat.status, chat.error]).toEqual(['ready', undefined]);
  expect(chat.messages.map(shown)).toEqual([['hello'], ['You said: hello'], ['again'], ['You said: again']]);
  await chat.resumeStream();
  expect(streams.at(-1)?.status).toBe(204);
});

test('NATS: what runs, asked at the broker as its operator', async () => {
  const { servers } = JSON.parse(readFileSync(join(dataDir, 'broker.json'), 'utf8'));
  const { nkeySeed, inboxPrefix } = credentialsOf(join(dataDir, 'broker/users'), 'operator');
  const seed = new TextEncoder().encode(typeof nkeySeed === 'function' ? nkeySeed() : nkeySeed);
  const connection = await natsTwo({ servers, authenticator: nkeyAuthenticator(seed), inboxPrefix });
  const client = connection.services.client();
  const found: string[] = [];
  for await (const { name, metadata } of await client.ping('natter')) found.push(`${name} ${metadata?.service}`);
  await connection.close();
  expect(found.sort()).toEqual(['checkpoint', 'delivery', 'gateway', 'router', 'session'].map((service) => `natter ${service}`));
});
