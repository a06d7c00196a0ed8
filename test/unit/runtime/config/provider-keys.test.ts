import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createModels } from '../../../../shared/adapters/model/create.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { type Config, keysOf, loadConfig } from '../../../../shared/runtime/config/load.ts';
import { withProviderKeys } from '../../../../shared/runtime/config/provider-keys.ts';
import { openai, startProvider, stream } from '../../../support/provider-server.ts';
import { request } from '../../adapters/model/rig.ts';

/** Where a provider's key may come from, and that no message has it (I12). */

const key = 'sk-planted-4711-4711';
let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'natter-keys-'));
  writeFileSync(join(home, 'key'), `${key}\n`, { mode: 0o600 });
});
afterAll(() => rmSync(home, { recursive: true }));

const configWith = (provider: object, agent: object = {}): Config => {
  const file = join(home, 'natter.json');
  writeFileSync(file, JSON.stringify({ agent, model: { providers: { house: { kind: 'anthropic', ...provider } } } }));
  return loadConfig({ file, env: {}, home });
};
const keysWith = (provider: object, env: Record<string, string> = {}): string[] => {
  const config = configWith(provider);
  return keysOf(config, withProviderKeys(config, env));
};
const failing = (script: string) => ({ keyCommand: ['node', '-e', script] });

describe('the key of a provider', () => {
  test.each<[string, object, Record<string, string>]>([
    ['a variable', { apiKeyEnv: 'HOUSE_KEY' }, { HOUSE_KEY: key }],
    ['a file, relative to the configuration', { keyFile: 'key' }, {}],
    ['a file in the home', { keyFile: '~/key' }, {}],
    ['what a command prints', { keyCommand: ['node', '-e', `console.log('${key}')`] }, { PATH: process.env.PATH ?? '' }],
    [
      'a command with the variables of this process',
      failing('console.log(process.env.HELD)'),
      { PATH: process.env.PATH ?? '', HELD: key },
    ],
  ])('comes from %s, and is among the secrets that are hidden', (_, provider, env) => {
    expect(keysWith(provider, env)).toEqual([key]);
  });

  test('is not asked for where there is none, and not kept in the environment of programs', () => {
    const config = configWith({ baseUrl: 'http://127.0.0.1:1/v1' });
    expect(withProviderKeys(config, { PATH: '/bin' })).toEqual({ PATH: '/bin' });
    const env = withProviderKeys(configWith({ keyFile: 'key' }), { PATH: '/bin' });
    expect(Object.keys(env).filter((name) => name !== 'PATH' && !name.includes(' '))).toEqual([]);
  });

  test.each<[string, object, RegExp]>([
    ['a file that is not there', { keyFile: 'nothing' }, /^model\.providers\.house\.keyFile: cannot read .*nothing/],
    [
      'a command that is not there',
      { keyCommand: ['no-such-program'] },
      /^model\.providers\.house\.keyCommand: no-such-program gave no key \(ENOENT\)/,
    ],
    [
      'a command that fails, whatever it says',
      failing(`console.log('${key}'); console.error('${key}'); process.exit(3)`),
      /exit code 3/,
    ],
    ['a command that says nothing', failing(''), /keyCommand gives an empty key/],
  ])('%s is refused with its field, and without the key', (_, provider, message) => {
    const asked = () => keysWith(provider, { PATH: process.env.PATH ?? '' });
    expect(asked).toThrow(expect.objectContaining({ code: 'invalid', message: expect.stringMatching(message) }));
    expect(asked).toThrow(expect.objectContaining({ message: expect.not.stringContaining(key) }));
  });

  test.skipIf(process.platform === 'win32')('a file that others can read is refused, with the command that mends it', () => {
    for (const mode of [0o640, 0o604, 0o644]) {
      chmodSync(join(home, 'key'), mode);
      expect(() => keysWith({ keyFile: 'key' })).toThrow(/keyFile: other users can read .*; run: chmod 600 /);
    }
    chmodSync(join(home, 'key'), 0o600);
  });

  test('two at once are refused: nobody would know which counts', () => {
    expect(() => configWith({ apiKeyEnv: 'A', keyFile: 'key' })).toThrow(
      /providers\.house\.keyFile: a provider has one key; .*"apiKeyEnv"/,
    );
  });

  test('goes to the provider', async () => {
    const server = await startProvider(stream(openai.begin(), openai.text('hello'), openai.end('stop')));
    const provider = { kind: 'openai-compatible', baseUrl: server.url, keyFile: 'key' };
    const config = configWith(provider, { model: 'house/tiny' });
    const model = createModels(config, withProviderKeys(config, {}), systemClock)();
    expect(await model.step(request(), () => {}, new AbortController().signal)).toMatchObject({ text: 'hello' });
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${key}`);
    server.close();
    expect(() => createModels(config, {}, systemClock)).toThrow(/model\.providers\.house/);
  });
});
