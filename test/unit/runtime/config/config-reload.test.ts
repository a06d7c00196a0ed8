import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLog } from '../../../../shared/kit/log.ts';
import { type Config, loadConfig } from '../../../../shared/runtime/config/load.ts';
import { differences, followConfig, type LiveConfig, takenAtOnce } from '../../../../shared/runtime/config/reload.ts';

let home: string;
let file: string;
let open: LiveConfig[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'natter-reload-'));
  file = join(home, 'natter.json');
  open = [];
});
afterEach(() => {
  for (const live of open) live.close();
  rmSync(home, { recursive: true });
});

/** A configuration that follows a file with this text, and what it logs. */
const follow = (text: string, at = file) => {
  writeFileSync(file, text);
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const load = (): Config => loadConfig({ file: at, env: {}, home });
  const changed: Config[] = [];
  const log = createLog({ level: 'info', name: 'test', destination });
  const live = followConfig({ file: at, start: load(), load, log, changed: (config) => changed.push(config) });
  open.push(live);
  return { live, lines, changed };
};

describe('a changed file (A14/140)', () => {
  test.each<[what: string, write: (text: string) => void]>([
    ['written in place', (text) => writeFileSync(file, text)],
    [
      'replaced by another file, as editors do',
      (text) => {
        writeFileSync(`${file}.new`, text);
        renameSync(`${file}.new`, file);
      },
    ],
    [
      'removed and made again',
      (text) => {
        rmSync(file);
        writeFileSync(file, text);
      },
    ],
  ])('%s is in force soon', async (_, write) => {
    const { live, lines } = follow('{ session: { dmScope: "main" } }');
    write('{ session: { dmScope: "per-peer" } }');
    await vi.waitFor(() => expect(live.current().session.dmScope).toBe('per-peer'));
    expect(lines.at(-1)).toMatchObject({ level: 'info', keys: ['session.dmScope'] });
  });

  test('a link that is pointed elsewhere, as in a mounted ConfigMap', async () => {
    for (const [folder, model] of [
      ['one', 'a'],
      ['two', 'b'],
    ] as const)
      writeFileSync(join(home, folder), `{ model: { aliases: { fast: "${model}" } } }`);
    symlinkSync(join(home, 'one'), join(home, '..data'));
    symlinkSync(join(home, '..data'), join(home, 'linked.json'));
    const { live } = follow('{}', join(home, 'linked.json'));
    symlinkSync(join(home, 'two'), join(home, '..next'));
    renameSync(join(home, '..next'), join(home, '..data'));
    await vi.waitFor(() => expect(live.current().model.aliases).toEqual({ fast: 'b' }));
  });

  test('no file is watched after the end', async () => {
    const { live } = follow('{}');
    const other = follow('{}');
    live.close();
    writeFileSync(file, '{ agent: { names: ["ann"] } }');
    await vi.waitFor(() => expect(other.live.current().agent.names).toEqual(['ann']));
    expect(live.current().agent.names).toEqual([]);
  });

  test('a directory that is not there is logged, and nothing else happens', () => {
    const start = loadConfig({ env: {}, home });
    const lines: string[] = [];
    const log = createLog({ level: 'info', name: 'test', destination: { write: (line: string) => void lines.push(line) } });
    const live = followConfig({ file: join(home, 'nowhere/natter.json'), start, load: () => start, log });
    expect(lines.join()).toContain('is not watched; a change needs a restart');
    expect(live.current()).toBe(start);
  });
});

describe('a file that cannot be used (A14/140)', () => {
  test.each([
    ['is not JSON5', '{ session: ', /natter\.json:1:12: not JSON5/],
    ['has an unknown key', '{\n sesion: {} }', /natter\.json:2: sesion: unknown key; did you mean "session"\?/],
    ['has a value that cannot be', '{ session: { dmScope: "all" } }', /session\.dmScope/],
    [
      'is dangerous and strict (A3/31)',
      '{ session: { strict: true }, channels: { irc: {} } }',
      /session\.strict: anybody may write on irc/,
    ],
  ])('%s: the last good one stays in force, loudly; a good one then counts', (_, bad, problem) => {
    const { live, lines, changed } = follow('{ session: { dmScope: "per-peer" } }');
    const good = live.current();
    writeFileSync(file, bad);
    live.reload();
    expect(live.current()).toBe(good);
    expect(lines).toEqual([expect.objectContaining({ level: 'error', problem: expect.stringMatching(problem) })]);
    expect(changed).toEqual([]);
    writeFileSync(file, '{ session: { scope: "global" } }');
    live.reload();
    expect(live.current().session).toMatchObject({ dmScope: 'main', scope: 'global' });
  });
});

test('A14/140: a file that is gone leaves the last good one in force, also where none is asked for by name', async () => {
  writeFileSync(file, '{ session: { dmScope: "per-peer" } }');
  const load = (): Config => loadConfig({ env: { NATTER_DATA_DIR: home }, home });
  const lines: string[] = [];
  const log = createLog({ level: 'info', name: 'test', destination: { write: (line: string) => void lines.push(line) } });
  const live = followConfig({ file, start: load(), load, log });
  open.push(live);
  rmSync(file);
  await vi.waitFor(() => expect(lines.join()).toContain('the file is gone'));
  expect(live.current().session.dmScope).toBe('per-peer');
  writeFileSync(file, '{ session: { dmScope: "per-channel-peer" } }');
  await vi.waitFor(() => expect(live.current().session.dmScope).toBe('per-channel-peer'));
});

describe('what takes effect at once, and what needs a restart', () => {
  const one = (key: string, value: unknown): string =>
    key.split('.').reduceRight<string>((inner, name) => `{ ${name}: ${inner} }`, JSON.stringify(value));
  const read = (config: unknown, key: string): unknown => key.split('.').reduce<any>((value, name) => value?.[name], config);

  test.each([
    ['session.scope', 'global'],
    ['session.dmScope', 'per-peer'],
    ['session.identityLinks', { ann: ['irc:a'] }],
    ['session.timeZone', 'Asia/Kolkata'],
    ['session.reset', { mode: 'idle', atHour: 4 }],
    ['session.resetByType', { dm: { mode: 'idle', atHour: 4 } }],
    ['session.resetByChannel', { irc: { mode: 'idle', atHour: 4 } }],
    ['session.idleMinutes', 5],
    ['session.resetTriggers', ['/fresh']],
    ['session.sendPolicy', { rules: [], default: 'deny' }],
    ['agent.owners', ['irc:ann']],
    ['agent.names', ['natter']],
    ['channels', { irc: { dmPolicy: 'allowlist', allowFrom: [], groupPolicy: 'open', groups: {}, ownerTriggers: false } }],
    ['model.aliases', { fast: 'a/b' }],
    ['log.level', 'debug'],
  ])('%s at once', (key, value) => {
    const { live, lines, changed } = follow('{}');
    writeFileSync(file, one(key, value));
    live.reload();
    expect(read(live.current(), key)).toEqual(value);
    expect(changed).toEqual([live.current()]);
    expect(lines.map(({ level }) => level)).toEqual(['info']);
  });

  test.each([
    ['nats.url', 'nats://elsewhere:4222'],
    ['nats.replicas', 3],
    ['nats.partitions', 8],
    ['gateway.host', '::1'],
    ['gateway.port', 1],
    ['gateway.token', 'another one'],
    ['dataDir', '/elsewhere'],
    ['prefix', 'other'],
    ['agent.id', 'other'],
    ['agent.model', 'a/b'],
    ['session.mainKey', 'home'],
    ['session.residents', 5],
    ['session.store', '/elsewhere'],
    ['outlets.webhooks', { irc: { url: 'http://h/', secret: 's' } }],
  ])('%s after a restart, and the log says so without the value', (key, value) => {
    const { live, lines, changed } = follow('{}');
    const before = read(live.current(), key);
    writeFileSync(file, one(key, value));
    live.reload();
    expect(read(live.current(), key)).toEqual(before);
    expect(changed).toEqual([]);
    expect(lines).toEqual([expect.objectContaining({ level: 'warn', msg: expect.stringContaining('need a restart') })]);
    expect(String(lines[0]?.keys)).toContain(key);
    expect(JSON.stringify(lines)).not.toContain('another one');
  });

  test('a file that says the same changes nothing', () => {
    const { live, lines, changed } = follow('{ agent: { names: ["a"] } }');
    const before = live.current();
    writeFileSync(file, '{ agent: { names: ["a"], } } // the same');
    live.reload();
    expect([live.current(), lines, changed]).toEqual([before, [], []]);
  });
});

test('differences are dotted paths; a list is one value', () => {
  expect(differences({ a: { b: 1, c: [1], d: 2 }, e: 3 }, { a: { b: 1, c: [2], f: 4 }, e: 3 })).toEqual(['a.c', 'a.d', 'a.f']);
});

test('a new level of the log is the level of its children', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'warn', name: 'test', destination: { write: (line: string) => void lines.push(line) } });
  const children = [log.child({ service: 'a' }), log.child({ service: 'b' }).child({ part: 'c' })];
  for (const child of children) child.info('unheard');
  log.level = 'info';
  for (const child of children) child.info('heard');
  log.level = 'error';
  for (const child of children) child.warn('unheard');
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['heard', 'heard']);
});

test('whether a change of a value waits for a start is what a changed file does', () => {
  const atOnce = takenAtOnce(loadConfig({ env: {}, home }));
  const asked = ['log.level', 'session.dmScope', 'session.residents', 'agent.model', 'gateway.port', 'gateway.requestsPerMinute'];
  expect(asked.filter((path) => atOnce.has(path))).toEqual(['log.level', 'session.dmScope', 'gateway.requestsPerMinute']);
});
