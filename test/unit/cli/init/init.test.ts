import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { findProviders } from '../../../../services/cli/init/find-providers.ts';
import { type InitOptions, init } from '../../../../services/cli/init/init.ts';
import { type KnownProvider, knownProviders } from '../../../../services/cli/init/known-providers.ts';
import { type Questions, terminalQuestions } from '../../../../services/cli/init/questions.ts';
import { createTerminal, type World } from '../../../../services/cli/terminal.ts';
import { loadConfig } from '../../../../shared/runtime/config/load.ts';
import {
  type Answer,
  anthropic,
  openai,
  type ProviderServer,
  startProvider,
  status,
  stream,
} from '../../../support/provider-server.ts';

/** `natter init` against a provider that is none: what it finds, asks, tries and writes, and that no key is told. */

const key = 'sk-planted-key-0815-0815';
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'natter-init-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const ready = stream(openai.begin(), openai.text('ready'), openai.end('stop'));
const provide = async (...answers: [Answer, ...Answer[]]): Promise<ProviderServer> => {
  const server = await startProvider(...answers);
  onTestFinished(server.close);
  return server;
};

interface Told {
  readonly printed: string;
  readonly written: string;
}
/** Runs it with these options and answers. A key that it printed or wrote to the configuration fails the test. */
const run = async (options: Partial<InitOptions>, env: Record<string, string> = {}, questions?: Questions): Promise<Told> => {
  const lines: string[] = [];
  const stream = { write: (text: string) => lines.push(text) };
  const world: World = {
    ...{ env: { PATH: process.env.PATH ?? '', OLLAMA_HOST: '127.0.0.1:1', ...env }, home },
    terminal: createTerminal({ out: stream, err: stream, interactive: false, now: () => 0 }),
    ...{ input: new PassThrough(), output: new PassThrough(), program: 'natter', version: '0', timeZone: 'UTC' },
    ...{ now: () => Date.parse('2026-11-23T12:00:00Z'), interrupted: new AbortController().signal },
  };
  const path = join(home, '.natter', 'natter.json');
  let failure: unknown;
  await init(world, { test: true, ...options }, questions).catch((error: unknown) => {
    failure = error;
  });
  const written = existsSync(path) ? readFileSync(path, 'utf8') : '';
  for (const text of [lines.join(''), written, String(failure)]) expect(text).not.toContain(key);
  expect(written, 'it names no document, which would not be where its reader is').not.toContain('docs/');
  if (failure !== undefined) throw failure;
  return { printed: lines.join(''), written };
};
const config = (env: Record<string, string> = {}) => loadConfig({ env, home });

describe('natter init', () => {
  test('writes a configuration that works, with comments, for this user alone', async () => {
    const server = await provide(ready);
    const { printed, written } = await run({ provider: 'openai', baseUrl: server.url, keyEnv: 'HOUSE_KEY' }, { HOUSE_KEY: key });
    expect(printed).toMatch(
      /found +OpenAI at http:\S+, model huge\n[\s\S]*works +openai\/huge answered in [\d.]+ s\n[\s\S]*written .*natter\.json\nThe model may not run programs \(exec\): uncomment "workspace" and "tools" in it before "natter up" to allow that, each time with your approval\.\nNext: natter up\n$/,
    );
    expect(config()).toMatchObject({
      agent: { model: 'openai/huge' },
      model: { providers: { openai: { kind: 'openai-compatible', baseUrl: server.url, apiKeyEnv: 'HOUSE_KEY' } } },
    });
    expect(config().model.providers.openai?.models, 'and none that this address does not offer').toEqual(['huge', 'tiny']);
    expect(written).toMatch(
      /\/\/ Written by "natter init" on 2026-11-23\..*\n[\s\S]*\/\/ The environment variable that holds the key/,
    );
    expect(statSync(join(home, '.natter', 'natter.json')).mode & 0o077).toBe(0);
    expect(server.listings.map(({ authorization }) => authorization)).toEqual([`Bearer ${key}`]);
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${key}`);
  });

  test.each<[string, Partial<InitOptions>, Record<string, string>, object]>([
    ['a variable', { keyEnv: 'K' }, { K: key }, { apiKeyEnv: 'K' }],
    ['a command', { keyCommand: ['node', '-p', 'process.env.K'] }, { K: key }, { keyCommand: ['node', '-p', 'process.env.K'] }],
    ["nothing, for a server of one's own", {}, {}, {}],
  ])('takes the key from %s', async (_, options, env, source) => {
    const server = await provide(ready);
    await run({ baseUrl: server.url, model: 'tiny', ...options }, env);
    expect(config().model.providers.own).toMatchObject({ baseUrl: server.url, ...source });
    expect(config().agent.model).toBe('own/tiny');
    expect(server.requests[0]?.headers.authorization).toBe(Object.keys(options).length === 0 ? undefined : `Bearer ${key}`);
  });

  test('takes the key from a file', async () => {
    const server = await provide(ready);
    writeFileSync(join(home, 'key'), key, { mode: 0o600 });
    await run({ baseUrl: server.url, keyFile: join(home, 'key') });
    expect(config().model.providers.own).toMatchObject({ keyFile: join(home, 'key') });
  });

  test('speaks the other wire format as well', async () => {
    const server = await provide(stream(anthropic.begin(), anthropic.text('ready'), anthropic.end('stop')));
    await run(
      { provider: 'anthropic', baseUrl: server.url, keyEnv: 'ANTHROPIC_API_KEY', model: 'tiny' },
      { ANTHROPIC_API_KEY: key },
    );
    expect(server.requests[0]?.headers['x-api-key']).toBe(key);
    expect(config().model.providers.anthropic).toMatchObject({
      ...{ kind: 'anthropic', apiKeyEnv: 'ANTHROPIC_API_KEY', models: ['tiny', 'huge'] },
    });
  });

  test.each<[string, Answer, RegExp]>([
    [
      'a wrong key',
      status(401, openai.error('invalid_api_key', `Incorrect API key provided: ${key}`)),
      /did not answer: the provider refused the key \(model_auth: .*; check the key/,
    ],
    [
      'a model that is not offered',
      status(404, openai.error('not_found', 'no such model')),
      /the provider has no such model \(model_unknown: .*; choose a model/,
    ],
    [
      'a server in trouble',
      status(503, openai.error('overloaded', 'later')),
      /an error of its own \(model_unavailable: HTTP 503.*the fault is on its side: try again later; nothing was written; try again with: natter init /,
    ],
  ])('%s: says so and what to do, and writes nothing', async (_, answer, message) => {
    const server = await provide(answer);
    const options = { baseUrl: server.url, keyEnv: 'K', model: 'tiny' };
    await expect(run(options, { K: key })).rejects.toThrow(
      expect.objectContaining({ code: 'unavailable', message: expect.stringMatching(message) }),
    );
    expect(existsSync(join(home, '.natter'))).toBe(false);
    await run({ ...options, test: false }, { K: key });
    expect(config().agent.model).toBe('own/tiny');
  });

  test.each<[string, (url: string) => Partial<InitOptions>]>([
    ['with a model', (baseUrl) => ({ baseUrl, model: 'tiny' })],
    ['with none', () => ({ provider: 'offline' })],
  ])('%s, the lines that enable a folder and programs need only lose their slashes', async (_, options) => {
    const server = await provide(ready);
    const { written } = await run(options(server.url));
    expect(config().agent.workspace).toBeUndefined();
    expect(config().tools.exec.enabled).toBe(false);
    writeFileSync(join(home, '.natter', 'natter.json'), written.replace(/\/\/ (?=workspace:|tools:)/g, ''));
    const workspace = join(home, '.natter', 'workspace');
    expect(config()).toMatchObject({ agent: { workspace }, tools: { exec: { enabled: true } } });
  });

  test('an address where nothing answers is named, with what went wrong there', async () => {
    await expect(run({ baseUrl: 'http://127.0.0.1:1/v1' })).rejects.toThrow(
      /no answer from http:\/\/127\.0\.0\.1:1\/v1\/models \(.+\); check the address, or name a model with --model/,
    );
  });

  test('whoever has no provider is told of the model that needs none', async () => {
    await expect(run({})).rejects.toThrow(/^no model provider was found; .* or do without: --provider offline$/);
  });

  test('a provider that is named without its key is refused where nobody can be asked', async () => {
    await expect(run({ provider: 'gemini' })).rejects.toThrow(
      'GEMINI_API_KEY or GOOGLE_API_KEY is not set; set it, or say where the key is with --key-env, --key-file or --key-command',
    );
  });

  test.each<[string, string | null]>([
    ['localhost:1/v1', 'http://localhost:1/v1'],
    ['127.0.0.1:9922', 'http://127.0.0.1:9922'],
    ['gpu.example/v1', 'https://gpu.example/v1'],
    ['HTTP://gpu.example/v1', 'HTTP://gpu.example/v1'],
    ['ftp://gpu.example', null],
    ['two words', null],
    ['', null],
  ])('--base-url "%s" is read as %s', async (baseUrl, address) => {
    const done = run({ baseUrl, model: 'tiny', test: false });
    if (address === null)
      return expect(done).rejects.toThrow(
        `--base-url: "${baseUrl}" is not an address; give one such as http://127.0.0.1:8000/v1`,
      );
    await done;
    expect(config().model.providers.own?.baseUrl).toBe(address);
  });

  test('a key goes to the address that OPENAI_BASE_URL names, and is told so', async () => {
    const server = await provide(ready);
    const { printed } = await run({}, { OPENAI_API_KEY: key, OPENAI_BASE_URL: server.url });
    expect(printed).toContain(`found    OpenAI at ${server.url}, model huge\n`);
    expect(config().model.providers.openai).toMatchObject({ baseUrl: server.url, apiKeyEnv: 'OPENAI_API_KEY' });
  });

  test('a model that the provider does not list is refused with the nearest, unless it answers', async () => {
    const server = await provide(ready, status(404, openai.error('not_found', 'no such model')));
    const { printed } = await run({ baseUrl: server.url, model: 'hgue' });
    expect(printed).toMatch(/^using +http:\S+, model hgue\n/);
    expect(printed).toContain('the provider lists no model "hgue"; nearest: huge, tiny; it answered nevertheless\n');
    for (const test of [true, false])
      await expect(run({ baseUrl: server.url, model: 'hgue', test, force: true })).rejects.toThrow('nearest: huge, tiny; ');
  });

  test('a model of a provider that lists none could not be checked', async () => {
    const { printed } = await run({ baseUrl: 'http://127.0.0.1:1/v1', model: 'gpt-9', test: false });
    expect(printed).toContain('the model gpt-9 could not be checked: no answer from http://127.0.0.1:1/v1/models');
  });

  test('never replaces a configuration unasked, and keeps the old one', async () => {
    const server = await provide(ready);
    await run({ provider: 'offline' });
    expect(config().agent.model).toBe('offline');
    const before = readFileSync(join(home, '.natter', 'natter.json'), 'utf8');
    await expect(run({ baseUrl: server.url })).rejects.toThrow(/natter\.json exists; edit it .*--force/);
    const { printed } = await run({ baseUrl: server.url, model: 'tiny', force: true });
    expect(printed).toMatch(/kept +\S+natter\.json\.bak: what else you had set is in it alone, copy what you need\n/);
    expect(config().agent.model).toBe('own/tiny');
    expect(readFileSync(join(home, '.natter', 'natter.json.bak'), 'utf8')).toBe(before);
  });

  test('refuses what it does not know, with what it knows', async () => {
    await expect(run({ provider: 'nobody' })).rejects.toThrow(
      /"nobody" is not known; use one of anthropic, openai, .*--base-url/,
    );
  });
});

describe('with a person to ask', () => {
  /** Takes the choice of this label, or types this. */
  const answers = (...said: string[]): Questions => {
    const next = (): string => said.shift() ?? 'nothing more was to be asked';
    return {
      choose: async (_, choices) => {
        const wanted = next();
        const found = choices.find(({ label }) => label === wanted);
        if (!found) throw new Error(`no choice ${wanted} among ${choices.map(({ label }) => label).join(', ')}`);
        return found.value;
      },
      ...{ secret: async () => next(), text: async () => next() },
    };
  };

  /** Whoever comes without one of these keys is refused the list of models. */
  const locked = (...keys: readonly string[]): void => {
    const { fetch: real } = globalThis;
    const known = new Set<string | null>(keys.map((one) => `Bearer ${one}`));
    vi.stubGlobal('fetch', async (...[url, options]: Parameters<typeof fetch>) =>
      known.has(new Headers(options?.headers).get('authorization')) ? real(url, options) : new Response('{}', { status: 401 }),
    );
    onTestFinished(() => void vi.unstubAllGlobals());
  };

  test('a key that is typed gets a file that only this user can read, and the configuration names it', async () => {
    await run({ test: false, model: 'tiny' }, {}, answers('Anthropic, OpenAI or another provider', 'Mistral', key));
    const keyFile = join(home, '.natter', 'keys', 'mistral');
    expect(config().model.providers.mistral).toMatchObject({ keyFile });
    expect(readFileSync(keyFile, 'utf8')).toBe(`${key}\n`);
    expect(statSync(keyFile).mode & 0o077).toBe(0);
    expect(readdirSync(join(home, '.natter')).sort()).toEqual(['keys', 'natter.json']);
  });

  test('a key that does not work is in no file, and one that was there stays', async () => {
    const typed = () => answers('Anthropic, OpenAI or another provider', 'Mistral', key, 'Give up');
    vi.stubGlobal('fetch', async () => new Response('{}', { status: 401 }));
    onTestFinished(() => void vi.unstubAllGlobals());
    await expect(run({ model: 'tiny' }, {}, typed())).rejects.toThrow(/nothing was written/);
    expect(existsSync(join(home, '.natter'))).toBe(false);
  });

  test('an address that does not answer is asked for again, with the reason', async () => {
    const server = await provide(ready);
    const { printed } = await run(
      { test: false },
      {},
      answers(
        'Another OpenAI-compatible address',
        'http://127.0.0.1:1/v1',
        server.url.replace(/v1$/, 'v2'),
        server.url,
        '',
        'tiny',
      ),
    );
    expect(printed).toMatch(
      /no answer from http:\/\/127\.0\.0\.1:1\/v1\/models \(.+\)\n.*\/v2\/models answered 404; most addresses end in \/v1/,
    );
    expect(config().agent.model).toBe('own/tiny');
    expect(config().model.providers.own?.baseUrl).toBe(server.url);
  });

  test('a server that wants a key is given one', async () => {
    const server = await provide(ready);
    locked(key);
    await run({}, {}, answers('Another OpenAI-compatible address', server.url, key, 'tiny'));
    expect(config().model.providers.own).toMatchObject({ keyFile: join(home, '.natter', 'keys', 'own') });
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${key}`);
  });

  test("a server of one's own is asked for its models", async () => {
    const server = await provide(ready);
    await run({}, {}, answers('Another OpenAI-compatible address', server.url, '', 'tiny'));
    expect(config().agent.model).toBe('own/tiny');
  });

  test('a model that does not answer may be written nevertheless, with the reason before the question', async () => {
    const server = await provide(status(503, {}));
    const failing = run({}, {}, answers('Another OpenAI-compatible address', server.url, '', 'tiny', 'Give up'));
    await expect(failing).rejects.toThrow(/^nothing was written; try again with: natter init$/);
    expect(existsSync(join(home, '.natter'))).toBe(false);
    const typed = answers('Another OpenAI-compatible address', server.url, '', 'tiny', 'Write the configuration nevertheless');
    const { printed } = await run({}, {}, typed);
    expect(printed).toMatch(
      /failed +own\/tiny did not answer: the provider answered with an error of its own.*: try again later/,
    );
    expect(config().agent.model).toBe('own/tiny');
  });

  test.each<[string, readonly string[], string]>([
    ['be asked again', ['Try the same again'], 'own/tiny'],
    ['be another', ['Another model', 'huge'], 'own/huge'],
  ])('a model that does not answer may %s: nothing else is typed again', async (_, said, model) => {
    const server = await provide(status(503, {}), ready);
    await run({}, {}, answers('Another OpenAI-compatible address', server.url, '', 'tiny', ...said));
    expect(config().agent.model).toBe(model);
    expect(server.requests).toHaveLength(2);
  });

  test('a key that the model refuses is typed again, and nothing else; the file has the second one', async () => {
    const server = await provide(status(401, openai.error('invalid_api_key', 'wrong')), ready);
    locked(key, 'mistyped');
    await run({}, {}, answers('Another OpenAI-compatible address', server.url, 'mistyped', 'tiny', 'Type the key again', key));
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer mistyped', `Bearer ${key}`]);
    expect(readFileSync(join(home, '.natter', 'keys', 'own'), 'utf8')).toBe(`${key}\n`);
    expect(config().agent.model).toBe('own/tiny');
  });

  test('a key that the list of models refuses is asked for again before any model is', async () => {
    const server = await provide(ready);
    locked(key);
    const { printed } = await run({}, {}, answers('Another OpenAI-compatible address', server.url, 'mistyped', key, 'tiny'));
    expect(printed).toMatch(/failed +http.* refused the key \(http.*\/models answered 401\); check the key\n/);
    expect(readFileSync(join(home, '.natter', 'keys', 'own'), 'utf8')).toBe(`${key}\n`);
    expect(config().model.providers.own?.models).toEqual(['tiny', 'huge']);
  });

  test('a key of the environment that is refused is named before a model is asked for', async () => {
    const server = await provide(ready);
    locked(key);
    const wish = { baseUrl: server.url, keyEnv: 'MINE' };
    const env = { MINE: 'mistyped' };
    const { printed } = await run({ ...wish, test: false }, env, answers('tiny'));
    expect(printed).toMatch(/failed +http.* refused the key \(http.*\/models answered 401\); check the key\n/);
    await expect(run({ ...wish, force: true }, env)).rejects.toThrow(/refused the key .*; check the key, or name a model/);
  });

  test('a configuration that is there is replaced if the person says so, and kept beside the new one', async () => {
    const path = join(home, '.natter', 'natter.json');
    await run({ provider: 'offline' });
    const before = readFileSync(path, 'utf8');
    const server = await provide(ready);
    const wish = { baseUrl: server.url, model: 'tiny' };
    await expect(run(wish, {}, answers('Keep it'))).rejects.toThrow(/natter\.json exists; edit it/);
    expect(readFileSync(path, 'utf8')).toBe(before);
    await run(wish, {}, answers('Write a new one'));
    expect(config().agent.model).toBe('own/tiny');
    expect(readFileSync(`${path}.bak`, 'utf8')).toBe(before);
  });

  test('an address may be typed without its scheme', async () => {
    const server = await provide(ready);
    await run({}, {}, answers('Another OpenAI-compatible address', server.url.replace('http://', ''), '', 'tiny'));
    expect(config().model.providers.own?.baseUrl).toBe(server.url);
  });

  test("an address that opens its list to everybody is asked for its key all the same, and the model's refusal offers to type it", async () => {
    const refused = status(401, openai.error('invalid_api_key', 'no key'));
    const server = await provide(refused, refused, ready);
    const said = [
      'Another OpenAI-compatible address',
      server.url,
      '',
      'tiny',
      'Type a key',
      'mistyped',
      'Type the key again',
      key,
    ];
    const { printed } = await run({}, {}, answers(...said));
    expect(printed).toMatch(/failed +own\/tiny did not answer: the provider wants a key, and no key was sent \(model_auth/);
    expect(printed).toMatch(/failed +own\/tiny did not answer: the provider refused the key \(model_auth/);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer mistyped', `Bearer ${key}`]);
    expect(config().model.providers.own).toMatchObject({ keyFile: join(home, '.natter', 'keys', 'own') });
    expect(readFileSync(join(home, '.natter', 'keys', 'own'), 'utf8')).toBe(`${key}\n`);
  });

  test.each<[string, Partial<InitOptions>, Record<string, string>]>([
    ['an address alone', {}, {}],
    ['a key in the environment', { keyEnv: 'MINE' }, { MINE: 'wrong' }],
  ])('after a refusal a key may be typed, also for %s', async (_, options, env) => {
    const server = await provide(status(401, openai.error('invalid_api_key', 'wrong')), ready);
    await run({ baseUrl: server.url, model: 'tiny', ...options }, env, answers('Type a key', key));
    expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${key}`);
    expect(config().model.providers.own).toMatchObject({ keyFile: join(home, '.natter', 'keys', 'own') });
    expect(config().model.providers.own?.apiKeyEnv).toBeUndefined();
  });

  test('a provider that is named without its key is one whose key is typed', async () => {
    const { printed } = await run({ provider: 'openai', model: 'gpt-9', test: false }, {}, answers(key));
    expect(printed).toMatch(/^OPENAI_API_KEY is not set\nusing +OpenAI, model gpt-9\n/);
    expect(config().model.providers.openai).toMatchObject({ keyFile: join(home, '.natter', 'keys', 'openai') });
  });

  test('the list of providers leads back, and to an address', async () => {
    const server = await provide(ready);
    const typed = ['Anthropic, OpenAI or another provider', 'Back', 'Anthropic, OpenAI or another provider'];
    await run({}, {}, answers(...typed, 'Another OpenAI-compatible address', server.url, '', 'tiny'));
    expect(config().model.providers.own?.baseUrl).toBe(server.url);
  });

  test('what was typed stands in the question that comes again', async () => {
    const server = await provide(ready);
    const asked = answers('Another OpenAI-compatible address', 'not one', 'http://127.0.0.1:1/v1', server.url, '', 'tiny');
    const stood: (string | undefined)[] = [];
    const text: Questions['text'] = (message, placeholder, typed) => {
      stood.push(typed);
      return asked.text(message, placeholder, typed);
    };
    const { printed } = await run({ test: false }, {}, { ...asked, text });
    expect(stood).toEqual(['', 'not one', 'http://127.0.0.1:1/v1']);
    expect(printed).toContain('"not one" is not an address; give one such as http://127.0.0.1:8000/v1\n');
  });

  test('nobody needs a provider', async () => {
    await run({}, {}, answers('None for now'));
    expect(config().agent.model).toBe('offline');
  });
});

describe('on a terminal', () => {
  const questionsOn = async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const terminal = createTerminal({ out: output, err: output, interactive: true, now: () => 0 });
    return { input, output, terminal, ...(await terminalQuestions({ input, output, terminal } as unknown as World)) };
  };

  test('every choice has its hint, not the highlighted one alone', async () => {
    const { input, output, choose } = await questionsOn();
    const answer = choose('What now?', [
      { value: 1, label: 'One', hint: 'of two' },
      { value: 2, label: 'Two', hint: 'of them' },
    ]);
    input.write('\r');
    await answer;
    expect(stripVTControlCharacters(String(output.read()))).toMatch(/One \(of two\)\n.*Two \(of them\)/);
  });

  test('what is said between two questions stands in their frame', async () => {
    const { input, output, secret, terminal } = await questionsOn();
    const answer = secret('Its key?');
    input.write('a\r');
    await answer;
    output.read();
    terminal.note('no answer from there');
    expect(stripVTControlCharacters(String(output.read()))).toBe('│\n│  no answer from there\n');
    terminal.divert(null);
    terminal.note('written');
    expect(String(output.read())).toBe('written\n');
  });

  test('an optional secret may be empty', async () => {
    const { input, secret } = await questionsOn();
    const answer = secret('Its key?', true);
    input.write('\r');
    expect(await answer).toBe('');
  });

  test('what was typed before can be changed', async () => {
    const { input, text } = await questionsOn();
    const answer = text('Its address?', 'http://', 'http://a');
    input.write('b\r');
    expect(await answer).toBe('http://ab');
  });

  test.each([
    ['Enter alone takes the first', '\r', 'one'],
    ['an arrow before it the second', '\u001b[B\r', 'two'],
  ])('%s', async (_, typed, chosen) => {
    const { input, choose } = await questionsOn();
    const answer = choose('What now?', [
      { value: 'one', label: 'One' },
      { value: 'two', label: 'Two' },
    ]);
    input.write(typed);
    expect(await answer).toBe(chosen);
  });
});

describe('what is found', () => {
  const local = (server: ProviderServer): KnownProvider => ({
    ...{ name: 'ollama', title: 'Ollama', kind: 'openai-compatible', baseUrl: server.url, variables: [], models: [] },
  });
  const paid = knownProviders.filter(({ variables }) => variables.length > 0);

  test.each(paid.flatMap(({ name, variables }) => variables.map((variable) => [variable, name] as const)))(
    '%s is the key of %s',
    async (variable, name) => {
      expect(await findProviders({ [variable]: key }, paid)).toMatchObject([{ name, apiKeyEnv: variable }]);
    },
  );

  test('an empty variable is none', async () => expect(await findProviders({ OPENAI_API_KEY: ' ' }, paid)).toEqual([]));

  test('a server on this machine that lists models, also where OLLAMA_HOST says', async () => {
    const server = await provide(ready);
    expect(await findProviders({}, [local(server)])).toMatchObject([{ name: 'ollama', offered: ['huge', 'tiny'] }]);
    const elsewhere = { ...local(server), baseUrl: 'http://127.0.0.1:1/v1' };
    expect(await findProviders({}, [elsewhere])).toEqual([]);
    const { host } = new URL(server.url);
    expect(await findProviders({ OLLAMA_HOST: host }, [elsewhere])).toMatchObject([{ baseUrl: server.url }]);
    expect(await findProviders({ OLLAMA_HOST: host.replace('127.0.0.1', '0.0.0.0') }, [elsewhere])).toMatchObject([
      { baseUrl: server.url },
    ]);
  });

  test('something else on that port is not a provider', async () => {
    const { createServer } = await import('node:http');
    const other = createServer((_, response) => response.end('<html>'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    expect(
      await findProviders(
        { OLLAMA_HOST: `127.0.0.1:${port}` },
        knownProviders.filter(({ name }) => name === 'ollama'),
      ),
    ).toEqual([]);
  });

  test('addresses and names are sound: each is https, or on this machine', () => {
    expect(new Set(knownProviders.map(({ name }) => name)).size).toBe(knownProviders.length);
    for (const { baseUrl, variables } of knownProviders)
      expect(baseUrl).toMatch(variables.length > 0 ? /^https:\/\/[\w./-]+[^/]$/ : /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  });
});
