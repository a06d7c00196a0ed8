import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { auditCommand } from '../../../services/cli/commands/operate/audit.ts';
import { doctorCommand } from '../../../services/cli/commands/operate/doctor.ts';
import { logCommand } from '../../../services/cli/commands/operate/log.ts';
import { statusCommand } from '../../../services/cli/commands/operate/status.ts';
import { installationIn } from '../../../services/cli/installation.ts';
import { unseenMargin } from '../../../services/cli/runtime/log-loss.ts';
import { type System, startSystem } from '../../../services/cli/runtime/system.ts';
import type { World } from '../../../services/cli/terminal.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { loadConfig } from '../../../shared/runtime/config/load.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import { afterwards } from '../../support/afterwards.ts';
import { listener } from '../../support/listener.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { natterWith } from '../../support/natter.ts';
import { eventStoreOf } from '../../support/streams/event-store.ts';
import { type Call, callerOf } from '../gateway/setup.ts';

/** A whole system on a real broker whose log has lost its end while nothing ran (I13). */
const token = 'a-token-for-an-operator-of-forty-letters';
const log = pino({ level: 'silent' });
let server: TestServer;
let home: string;
/** Texts that arrived at the webhook, with their ids. */
let arrived: { id: string; text: string }[];
let webhook: string;

beforeEach(async () => {
  server = await startServer();
  home = mkdtempSync(join(tmpdir(), 'natter-went-back-'));
  arrived = [];
  const farSide = createServer(
    listener(async (request, response) => {
      arrived.push(JSON.parse(Buffer.concat(await request.toArray()).toString()));
      response.writeHead(204).end();
    }),
  );
  await new Promise<void>((resolve) => farSide.listen(0, '127.0.0.1', resolve));
  webhook = `http://127.0.0.1:${(farSide.address() as AddressInfo).port}/`;
  afterwards(() => farSide.close());
  const outlets = { webhooks: { telegram: { url: webhook, secret: 'a secret' } } };
  writeFileSync(join(home, 'natter.json'), JSON.stringify({ agent: { owners: ['telegram:7'] }, outlets }), { mode: 0o600 });
});
afterEach(async () => {
  await server.stop();
  rmSync(home, { recursive: true, force: true });
  process.exitCode = undefined;
});

interface Running {
  readonly system: System;
  readonly call: Call;
  natter(...words: string[]): Promise<string>;
}
const start = async (): Promise<Running> => {
  const broker = { NATS_URL: server.url, NATS_USERS_DIR: server.usersDir };
  const env = { ...broker, NATTER_PORT: '0', NATTER_DATA_DIR: home };
  const told = { output: new PassThrough(), terminal: { interactive: false } };
  const world = { env: {}, home, ...told, program: 'natter', version: '0' } as unknown as World;
  const config = fixed(loadConfig({ env, home }));
  const options = { world, config, installation: installationIn(home), token, log, clock: systemClock };
  const system = await startSystem({ ...options, hosts: 1, childArguments: [], logFile: 2 });
  const ofCommand = { ...env, NATTER_URL: system.gateway.url, NATTER_TOKEN: token, USER: 'olga' };
  const commands = [auditCommand, doctorCommand, logCommand, statusCommand];
  const run = natterWith(commands, { home, env: ofCommand, now: () => Date.now() });
  const natter = async (...words: string[]) => stripVTControlCharacters(await run(...words));
  return { system, call: callerOf(system.gateway.url, token), natter };
};
const problemsOf = async ({ call }: Running): Promise<string[]> => {
  const { body } = await call('GET', '/readyz');
  return body.details.map(({ code, message }: { code: string; message: string }) => `${code}: ${message}`);
};
const ready = (running: Running) => vi.waitFor(async () => expect(await problemsOf(running)).toEqual([]));
const say = ({ call }: Running, id: string, text: string) =>
  call('POST', '/v1/inbound', {
    body: { id, channel: 'telegram', conversation: { id: '7', kind: 'direct' }, sender: { id: '7' }, text },
  });
const answered = (text: string) => vi.waitFor(() => expect(arrived.map((one) => one.text)).toContain(`You said: ${text}`));
const sequences = async ({ call }: Running): Promise<number[]> => {
  const { body } = await call('GET', '/v1/events?limit=200');
  return [...new Set<number>(body.events.map(({ seq }: { seq: number }) => seq))];
};

/** A conversation of which the log has lost what came after the first answer. */
const lostItsEnd = async () => {
  const store = eventStoreOf(server);
  const first = await start();
  await ready(first);
  await say(first, 'm1', 'one');
  await answered('one');
  await first.system.stop();
  await server.kill9();
  await store.copyAs('older');
  await server.restart();
  const second = await start();
  await ready(second);
  for (const text of ['two', 'three']) {
    await say(second, text, text);
    await answered(text);
  }
  const seen = await sequences(second);
  await second.system.stop();
  await server.kill9();
  await store.copyAs('newer');
  await store.putBack('older');
  await server.restart();
  return { store, seen, last: Math.max(...seen) };
};

test('every service says so, nothing is written or sent, and all goes on when the newer log is back', async () => {
  const { store, seen, last } = await lostItsEnd();
  const third = await start();
  afterwards(() => third.system.stop());
  const wentBack = new RegExp(`log_went_back: the event log ends at \\d+, but had reached ${last}: writing is stopped`);
  await vi.waitFor(async () => expect((await problemsOf(third)).join()).toMatch(wentBack));
  // Each reader says so as well, with what helps.
  await vi.waitFor(async () => expect((await problemsOf(third)).join()).toMatch(/log_went_back: delivery: /));
  const before = arrived.length;
  const { status } = await say(third, 'm4', 'four');
  expect([202, 503]).toContain(status);
  expect(await third.natter('status')).toMatch(/not ready[\s\S]*the event log ends at/);
  const { findings } = JSON.parse(await third.natter('doctor', '--json'));
  expect(findings).toContainEqual(
    expect.objectContaining({ what: 'log', level: 'fail', fix: expect.stringMatching(/newer store back.*natter log accept/) }),
  );

  await server.kill9();
  await store.putBack('newer');
  await server.restart();
  await ready(third);
  await say(third, 'm5', 'five');
  await answered('five');
  expect((await sequences(third)).slice(0, seen.length)).toEqual(seen);
  const answers = arrived.slice(before).map(({ text }) => text);
  expect(answers).toEqual(status === 202 ? ['You said: four', 'You said: five'] : ['You said: five']);
}, 120_000);

test('a person accepts the loss: it is recorded, nothing is used twice, and the next message is answered once', async () => {
  const { last } = await lostItsEnd();
  const third = await start();
  afterwards(() => third.system.stop());
  await vi.waitFor(async () => expect((await problemsOf(third)).join()).toContain('log_went_back'));
  // Without a reason it only shows the loss.
  expect(await third.natter('log', 'accept', '--yes')).toMatch(`had reached ${last}`);
  expect(process.exitCode).toBe(1);
  process.exitCode = undefined;
  const text = await third.natter('log', 'accept', '--yes', '--reason', 'the newer copy is gone');
  expect(text).toMatch(new RegExp(`had reached ${last}[\\s\\S]*agent:main:main`));
  await ready(third);

  const before = arrived.length;
  await say(third, 'm6', 'six');
  await answered('six');
  await say(third, 'm7', 'seven');
  await answered('seven');
  expect(arrived.slice(before).map((one) => one.text)).toEqual(['You said: six', 'You said: seven']);
  const ids = arrived.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect((await sequences(third)).filter((seq) => seq > last + unseenMargin).length).toBeGreaterThan(0);
  expect((await third.natter('audit', '--kind', 'log_loss_accepted')).trim().split('\n')).toEqual([
    expect.stringMatching(new RegExp(`operator:olga.*had reached ${last}.*the newer copy is gone`)),
  ]);
  await vi.waitFor(async () => {
    const { body } = await third.call('GET', '/v1/sessions');
    expect(body.sessions).toMatchObject([{ key: 'agent:main:main', seq: Math.max(...(await sequences(third))) }]);
  });
  const { findings } = JSON.parse(await third.natter('doctor', '--json'));
  expect(findings).toContainEqual(expect.objectContaining({ what: 'log', level: 'ok' }));
}, 120_000);

test('what is derived from the log was put back to an older copy: it follows by itself, nothing is sent twice or remembered again', async () => {
  const derived = ['index', 'snapshots', 'memory', 'hosts'].map((name) => eventStoreOf(server, `KV_natter_${name}`));
  const remember = async ({ call }: Running, text: string) =>
    (await call('POST', '/v1/memory', { body: { text, scope: 'agent' } })).body.id as string;
  const first = await start();
  await ready(first);
  await say(first, 'm1', 'one');
  await answered('one');
  const forgotten = await remember(first, 'likes tea');
  await vi.waitFor(async () => expect((await first.call('GET', '/v1/memory')).body.memories).toHaveLength(1));
  await first.system.stop();
  await server.kill9();
  for (const store of derived) await store.copyAs('older');
  await server.restart();

  const second = await start();
  await ready(second);
  await vi.waitFor(async () => expect((await second.call('DELETE', `/v1/memory/${forgotten}`)).status).toBe(200));
  await remember(second, 'likes coffee');
  await say(second, 'm2', 'two');
  await answered('two');
  const seen = await sequences(second);
  await second.system.stop();
  await server.kill9();
  for (const store of derived) await store.putBack('older');
  await server.restart();

  const third = await start();
  afterwards(() => third.system.stop());
  await ready(third);
  await say(third, 'm3', 'three');
  await answered('three');
  expect((await sequences(third)).slice(0, seen.length)).toEqual(seen);
  await vi.waitFor(async () => {
    const { sessions } = (await third.call('GET', '/v1/sessions')).body;
    expect(sessions).toMatchObject([{ key: 'agent:main:main', seq: Math.max(...(await sequences(third))) }]);
    const { memories } = (await third.call('GET', '/v1/memory')).body;
    expect(memories.map(({ text }: { text: string }) => text)).toEqual(['likes coffee']);
  });
  expect(arrived.map(({ text }) => text)).toEqual(['one', 'two', 'three'].map((text) => `You said: ${text}`));
  expect(await third.natter('doctor')).not.toMatch(/^fail/m);
}, 120_000);
