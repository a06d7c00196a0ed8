import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Command } from 'commander';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { configCommand } from '../../../../services/cli/commands/setup/config.ts';
import { installationIn } from '../../../../services/cli/installation.ts';
import { createTerminal, type World } from '../../../../services/cli/terminal.ts';

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'natter-config-command-'));
  writeFileSync(
    join(home, 'natter.json'),
    `{ nats: { url: 'nats://user:password1@host:4222', token: 'broker-secret' },
       gateway: { token: 'gateway-secret', tokens: { phone: { role: 'owner', sha256: '${'0'.repeat(64)}' } } },
       session: { dmScope: 'per-peer' }, channels: { irc: { allowFrom: ['ann'] } },
       outlets: { webhooks: { irc: { url: 'http://h/?token=in-the-address', secret: 'w1' } } } }`,
  );
  writeFileSync(join(home, 'bad.json'), '{\n session: { dmScop: "main" } }');
  writeFileSync(join(home, 'open.json'), '{ channels: { irc: {} } }');
});
afterAll(() => rmSync(home, { recursive: true }));
afterEach(() => {
  process.exitCode = 0;
});

const printTo = (lines: string[]) => ({ write: (text: string) => lines.push(text) });

/** Runs `natter config …` and gives what it printed. */
const natter = async (...words: string[]): Promise<{ out: string; note: string; code: unknown }> => {
  const out: string[] = [];
  const note: string[] = [];
  const world: World = {
    env: { NATTER_DATA_DIR: home },
    home,
    terminal: createTerminal({ out: printTo(out), err: printTo(note), interactive: false, now: () => 0 }),
    input: new PassThrough(),
    output: new PassThrough(),
    program: 'natter',
    version: '0',
    timeZone: 'UTC',
    now: () => 0,
    interrupted: new AbortController().signal,
  };
  const program = new Command('natter').option('--config <file>').option('--data-dir <folder>').exitOverride();
  configCommand(program, world);
  await program.parseAsync(['config', ...words], { from: 'user' });
  return { out: out.join(''), note: note.join(''), code: process.exitCode };
};

describe('natter config get (A14/140)', () => {
  test.each<[words: string[], printed: unknown]>([
    [['session.dmScope'], 'per-peer'],
    [['session.dmScope', '--json'], '"per-peer"'],
    [['gateway.port'], '4600'],
    [['channels.irc.allowFrom'], '[\n  "ann"\n]'],
    [['session.sendPolicy.default'], 'allow'],
    [['session.store', '--json'], 'null'],
    [['gateway.token'], '[secret]'],
    [['outlets.webhooks.irc.secret', '--json'], '"[secret]"'],
  ])('%j', async (words, printed) => {
    expect((await natter('get', ...words)).out).toBe(`${printed}\n`);
  });

  test('a key that is not set is told on standard error, with exit code 1', async () => {
    expect(await natter('get', 'session.store')).toEqual({ out: '', note: 'session.store is not set\n', code: 1 });
  });

  test.each([
    ['session.dmscope', /session\.dmscope: unknown key; did you mean "dmScope"\?/],
    ['port', /port: unknown key; did you mean "gateway\.port"\?/],
    ['channels.irc.dmPolice', /did you mean "dmPolicy"\?/],
    ['nope', /^nope: unknown key; use one of: prefix, dataDir, /],
    ['session.dmScope.deeper', /^session\.dmScope\.deeper: unknown key; session\.dmScope has no keys of its own$/],
  ])('there is no %s', async (path, message) => {
    await expect(natter('get', path)).rejects.toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringMatching(message) }),
    );
  });

  test('no secret is printed, wherever it is (I12)', async () => {
    const { out } = await natter('get');
    expect(JSON.parse(out)).toMatchObject({ session: { dmScope: 'per-peer' }, gateway: { token: '[secret]' } });
    expect(out).not.toMatch(/password1|broker-secret|gateway-secret|"w1"|in-the-address/);
  });
});

describe('natter config validate (A14/140)', () => {
  test('a good file', async () => {
    expect((await natter('validate')).out).toContain(join(home, 'natter.json'));
  });
  test('a file with a mistake: the line and the mend, as an error of the caller', async () => {
    await expect(natter('validate', join(home, 'bad.json'))).rejects.toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringMatching(/bad\.json:2: session\.dmScop: .*"dmScope"\?/) }),
    );
  });
  test.each<[string, object, RegExp]>([
    ['a model whose provider is not there', { agent: { model: 'house/tiny' } }, /agent\.model "house\/tiny" is not known/],
    ['a fallback that is not there', { agent: { fallbacks: ['house/tiny'] } }, /agent\.fallbacks\.0 "house\/tiny" is not known/],
    [
      'a key that is not there',
      { agent: { model: 'house/tiny' }, model: { providers: { house: { kind: 'anthropic', apiKeyEnv: 'NO_SUCH_KEY' } } } },
      /model\.providers\.house\.apiKeyEnv names NO_SUCH_KEY, which is not set in the environment; set it \(export NO_SUCH_KEY=…\), or let "natter init --force" keep the key in a file/,
    ],
    [
      'a file with a key that is not there',
      { model: { providers: { house: { kind: 'anthropic', keyFile: 'nothing' } } } },
      /model\.providers\.house\.keyFile: cannot read/,
    ],
    ['an address that others can reach', { gateway: { host: '0.0.0.0' } }, /gateway\.host: 0\.0\.0\.0 can be reached/],
  ])('is as strict as a start: %s', async (_, config, message) => {
    const file = join(home, 'strict.json');
    writeFileSync(file, JSON.stringify(config));
    await expect(natter('validate', file)).rejects.toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringMatching(message) }),
    );
  });
  test('says at which address it will listen, and which model answers', async () => {
    expect((await natter('validate')).out).toMatch(/\naddress http:\/\/127\.0\.0\.1:4600\nmodel {3}offline\n/);
  });
  test('says at which address it listens, if a gateway runs there', async () => {
    const installation = installationIn(home);
    onTestFinished(() => rmSync(installation.paths.gateway));
    installation.writeGateway({ url: 'http://127.0.0.1:4711', token: 'one', pid: process.pid });
    expect((await natter('validate')).out).toMatch(/\naddress http:\/\/127\.0\.0\.1:4711 \(in use; the next start takes 4600 /);
    // A process id that no machine gives.
    installation.writeGateway({ url: 'http://127.0.0.1:4711', token: 'one', pid: 2 ** 30 });
    expect((await natter('validate')).out).toMatch(/\naddress http:\/\/127\.0\.0\.1:4600\n/);
  });
  test('A3/31: a good file that is dangerous says so', async () => {
    expect((await natter('validate', join(home, 'open.json'))).out).toMatch(/danger.*anybody may write on irc/);
  });
});

test('natter config schema is a JSON Schema that tells what each key does (A14/140)', async () => {
  const schema = JSON.parse((await natter('schema')).out);
  expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
  expect(schema.properties.session.properties.dmScope).toMatchObject({
    default: 'main',
    description: expect.stringContaining('main'),
  });
});
