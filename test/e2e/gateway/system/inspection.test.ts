import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startWorker } from '../../../../services/cli/runtime/compose.ts';
import { reportHealth } from '../../../../services/cli/runtime/health/report.ts';
import { startGateway } from '../../../../services/gateway/main.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { createLog } from '../../../../shared/kit/log.ts';
import { loadConfig } from '../../../../shared/runtime/config/load.ts';
import { fixed } from '../../../../shared/runtime/config/reload.ts';
import * as exposure from '../../../../shared/runtime/doctor/exposure.ts';
import * as system from '../../../../shared/runtime/doctor/system.ts';
import { RecentLog } from '../../../../shared/runtime/recent-log.ts';
import { SkillLibrary } from '../../../../shared/runtime/skills/library.ts';
import { commitTo, freshKey } from '../../../support/domain/commits.ts';
import { afterwards, callerOf, ready, token } from '../setup.ts';

/** What people look at to understand the system itself. */

const soon = { timeout: 15_000, interval: 20 };
/** So many that of two hosts, whose names are chance, each has some. */
const partitions = 32;
const allOf = (process: string | null): (string | null)[] => Array(partitions).fill(process);
const webhookSecret = 'a-secret-of-a-webhook-0123456789';
const providerKey = 'sk-a-key-of-a-provider-0123456789';

const configured = (home: string, text: string) => {
  const file = join(home, 'natter.json');
  writeFileSync(file, text);
  const source = { file, env: { NATTER_PORT: '0', MAIL_KEY: providerKey }, home };
  return { source, config: loadConfig(source) };
};

const start = async (more = '') => {
  const home = mkdtempSync(join(tmpdir(), 'natter-inspection-'));
  const { source, config } = configured(
    home,
    `{
  agent: { workspace: "workspace" },
  outlets: { webhooks: { mail: { url: "https://me:${providerKey}@mail.example", secret: "${webhookSecret}" } } },
  model: { providers: { mail: { kind: "openai-compatible", baseUrl: "https://x.example", apiKeyEnv: "MAIL_KEY" } } },
  ${more}
}`,
  );
  const broker = openInMemory({ clock: systemClock, partitions });
  const recentLog = new RecentLog();
  const secrets = [webhookSecret];
  const log = createLog({ level: 'info', name: 'test', secrets, destination: { write: () => {} }, recent: recentLog });
  const skills = await SkillLibrary.open({ config, env: {}, log, reserved: new Set() });
  afterwards(() => skills.close());
  const ports = broker.portsFor('gateway');
  const insight = { configSource: source, recentLog };
  const gateway = await startGateway({ ...{ config: fixed(config), ports, log, token, version: '1', skills, insight } });
  afterwards(() => gateway.stop(1_000));
  const call = callerOf(gateway.url);
  await ready(call);
  const get = async (path: string) => (await call('GET', path)).body;

  /** A session host in a process of its own, as the others see it. */
  const host = async (name: string, theirs = config) => {
    const own = broker.portsFor(name);
    const options = { config: fixed(theirs), ports: own, log, env: { NATTER_WARM_UP: 'off' }, tokens: [], version: '2' };
    const worker = await startWorker('session', options);
    const leaving = new AbortController();
    const told = { process: name, version: '2', presence: own.presence, clock: systemClock, log, config: fixed(theirs) };
    const reporting = reportHealth(() => [worker], { ...told, signal: leaving.signal });
    let isGone = false;
    const leave = async (): Promise<void> => {
      if (isGone) return;
      isGone = true;
      leaving.abort();
      await Promise.all([worker.stop(1_000), reporting]);
    };
    afterwards(leave);
    return leave;
  };
  return { home, config, ports, log, call, get, host };
};

test('the partitions are shown with the host that has each, and those of one that leaves with the next', async () => {
  const { get, call, host, ports } = await start();
  const holders = async () => (await get('/v1/hosts')).partitions.map(({ process }: { process: string | null }) => process);
  expect(await holders()).toEqual(allOf(null));
  const leave = await host('one');
  await vi.waitFor(async () => expect(await holders()).toEqual(allOf('one')), soon);
  await host('two');
  await vi.waitFor(async () => expect(new Set(await holders())).toEqual(new Set(['one', 'two'])), soon);
  await leave();
  await vi.waitFor(async () => expect(await holders()).toEqual(allOf('two')), soon);
  const key = 'agent:main:main';
  const shown = await get(`/v1/hosts?key=${key}`);
  expect(shown.ofKey).toBe(ports.commands.partitionOf(key));
  expect(shown.partitions[0]).toEqual({ partition: 0, process: 'two', since: expect.any(Number), waiting: 0 });
  expect(shown.processes).toMatchObject([{ process: 'two', version: '2', services: [{ name: 'session', problems: [] }] }]);
  // The same name as in its commits and in its lines of the log.
  await call('POST', `/v1/sessions/${key}/messages?wait=20`, { body: { text: '[[steps 3]] [[fail busy]] hello' } });
  const { events } = await get(`/v1/sessions/${key}/events`);
  const { member } = shown.processes[0].services[0];
  expect(member).toMatch(/^session-\d+-[0-9a-f]{8}$/);
  expect(events.map(({ actor }: { actor: string }) => actor)).toContain(`host:${member}`);
  expect((await get('/v1/log')).lines.some(({ fields }: { fields: { member?: string } }) => fields.member === member)).toBe(true);
});

test('I12: the configuration has each value with its origin, and no secret; who has another one is named', async () => {
  const { get, call, host, home } = await start();
  await host('older', configured(mkdtempSync(join(home, 'x-')), '{ tools: { exec: { enabled: true } } }').config);
  await vi.waitFor(async () => expect((await get('/v1/config')).processes).toHaveLength(1), soon);
  const { file, keys, processes } = await get('/v1/config');
  expect(file).toBe(join(home, 'natter.json'));
  const of = (path: string) => keys.find((key: { path: string }) => key.path === path);
  expect(of('gateway.port')).toMatchObject({ value: 0, origin: 'NATTER_PORT', effect: expect.stringContaining('port') });
  expect(of('agent.workspace')).toMatchObject({ value: join(home, 'workspace'), origin: 'line 2' });
  expect(of('session.queue.limit')).toMatchObject({ origin: 'default' });
  expect(of('outlets.webhooks.mail.secret')).toMatchObject({ value: '[secret]', origin: 'line 3' });
  expect(of('outlets.webhooks.mail.url')).toMatchObject({ effect: expect.stringContaining('Replies') });
  expect(processes).toEqual([{ process: 'older', differsIn: expect.arrayContaining(['tools', 'outlets', 'agent']) }]);
  expect(processes[0].differsIn).not.toContain('memory');
  const { text } = await call('GET', '/v1/config');
  for (const secret of [webhookSecret, providerKey]) expect(text).not.toContain(secret);
});

test('a skill says what it lacks and which command brings it, or which word calls it', async () => {
  const { get, home } = await start();
  const folder = join(home, 'workspace', 'skills', 'pdf');
  mkdirSync(folder, { recursive: true });
  const metadata = JSON.stringify({
    requires: { bins: ['pdf-that-is-nowhere'] },
    install: [{ kind: 'node', package: 'pdf-tool', bins: ['pdf-that-is-nowhere'] }],
  });
  writeFileSync(
    join(folder, 'SKILL.md'),
    `---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  natter: '${metadata}'\n---\nRead.\n`,
  );
  const found = async () => (await get('/v1/skills')).skills.find(({ name }: { name: string }) => name === 'pdf');
  await vi.waitFor(async () => expect(await found()).toBeDefined(), soon);
  expect(await found()).toMatchObject({
    ...{ description: 'Reads PDF files.', status: 'ineligible', folder, source: 'workspace' },
    ...{ reasons: ['The program pdf-that-is-nowhere is not installed.'], repair: 'natter skills install pdf' },
    command: null,
  });
  const usable = join(home, 'workspace', 'skills', 'tides');
  mkdirSync(usable);
  writeFileSync(join(usable, 'SKILL.md'), '---\nname: high-tides\ndescription: When the tide is high.\n---\nLook.\n');
  const commands = async () => (await get('/v1/skills')).skills.map(({ command }: { command: string | null }) => command);
  await vi.waitFor(async () => expect(await commands()).toContain('high_tides'), soon);
});

test('the doctor finds here what natter doctor finds, in the same words', async () => {
  const { get, config, ports } = await start();
  const { findings, ok } = await get('/v1/doctor');
  const report = await system.systemReport(ports);
  const expected = [
    ...[exposure.configuredValues, exposure.directMessages, exposure.owner, exposure.bindAddress].map((check) => check(config)),
    ...[system.store(report), system.queues(report), system.followers(report), system.processes(report)],
    ...[system.answers(report), system.checkpoints(config, report), system.deadLetters(report), system.openDeliveries(report)],
    exposure.tokens(config, [], Date.now()),
  ];
  expect(findings).toEqual(JSON.parse(JSON.stringify(expected)));
  expect(ok).toBe(false);
  expect(findings.find(({ what }: { what: string }) => what === 'processes')).toMatchObject({ level: 'fail' });
});

test('a checkpoint that failed is told whatever processes have started since, until one succeeds', async () => {
  const { get, ports } = await start();
  const key = freshKey();
  const range = { reason: 'manual', sessionId: 's', fromRev: 1, toRev: 1, toSeq: 1 } as const;
  const found = async () =>
    (await get('/v1/doctor')).findings.find(({ what }: { what: string }) => what === 'checkpoints') as { level: string };
  expect(await found()).toMatchObject({ level: 'ok' });
  const failed = { type: 'introspection_failed', v: 1, ...range, code: 'model_timeout', message: 'no answer' } as const;
  const first = await ports.events.append(commitTo(key, { events: [failed] }), 0);
  expect(await found()).toMatchObject({ level: 'warn', detail: expect.stringContaining(`the last one failed, of ${key}`) });
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2, estimated: false };
  const done = { type: 'introspected', v: 1, ...range, model: 'm', usage } as const;
  await ports.events.append(commitTo(key, { rev: 2, events: [done] }), first.kind === 'stored' ? first.seq : 0);
  expect(await found()).toMatchObject({ level: 'ok' });
});

test('I12: the log is followed by its numbers and filtered by level and text, without secrets', async () => {
  const { get, log } = await start();
  log.warn({ key: 'agent:main:irc' }, `careful with ${webhookSecret}`);
  log.info('fine');
  const all = await get('/v1/log');
  expect(all.lines.map(({ message }: { message: string }) => message)).toEqual(
    expect.arrayContaining(['gateway listens', 'careful with [secret]', 'fine']),
  );
  expect(JSON.stringify(all)).not.toContain(webhookSecret);
  const warnings = await get('/v1/log?level=warn&text=AGENT:MAIN:IRC');
  expect(warnings.lines).toMatchObject([{ level: 'warn', fields: { key: 'agent:main:irc' }, at: expect.any(Number) }]);
  log.info('later');
  const { lines, next } = await get(`/v1/log?after=${all.next}`);
  expect(lines).toMatchObject([{ message: 'later', number: next }]);
  expect((await get('/v1/log?level=loud')).field).toBe('level');
});

test('a call that cannot be served is in the log with the cause, and one that is refused is not', async () => {
  const { call, get, ports } = await start();
  vi.spyOn(ports.presence, 'list').mockRejectedValueOnce(new NatterError('unavailable', 'the hosts did not answer'));
  const { status, body } = await call('GET', '/v1/hosts');
  expect([status, body.code]).toEqual([503, 'unavailable']);
  expect((await call('GET', '/v1/sessions/nonsense')).status).toBe(404);
  const { lines } = await get('/v1/log?level=warn&text=not+served');
  expect(lines).toMatchObject([
    { level: 'warn', fields: { requestId: body.requestId, route: '/v1/hosts', err: { message: 'the hosts did not answer' } } },
  ]);
});
