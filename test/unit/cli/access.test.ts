import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CommonOptions, explained, gatewayOf } from '../../../services/cli/access.ts';
import { installationIn } from '../../../services/cli/installation.ts';
import type { World } from '../../../services/cli/terminal.ts';
import { NatterApiError } from '../../../shared/client/errors.ts';

const here = 'http://127.0.0.1:4600';
const elsewhere = 'https://natter.example.org';
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'natter-access-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

/** What `natter up` writes down, or what somebody wrote into the configuration. */
const written = (): CommonOptions => {
  installationIn(dataDir).writeGateway({ url: here, token: 'token of here' });
  return {};
};
const configured = (): CommonOptions => {
  const file = join(dataDir, 'natter.json');
  writeFileSync(file, '{ gateway: { token: "token of here" } }');
  return { config: file };
};
const asked = (options: CommonOptions, env: Record<string, string> = {}) =>
  gatewayOf({ env, home: dataDir } as unknown as World, { dataDir, ...options });

describe.each([
  ['that `natter up` made', written],
  ['in the configuration file', configured],
])('I12: the token of this installation, %s,', (_, given) => {
  test.each<[string, CommonOptions, Record<string, string>]>([
    ['without another address', {}, {}],
    ['with the same address as --url', { url: here }, {}],
    ['with the same address in NATTER_URL', {}, { NATTER_URL: here }],
    ['with the same address and a slash', { url: `${here}/` }, {}],
    ['with an empty NATTER_URL and NATTER_TOKEN', {}, { NATTER_URL: '', NATTER_TOKEN: '' }],
  ])('is sent to the gateway here: %s', (_, options, env) => {
    const { url, token } = asked({ ...given(), ...options }, env);
    expect([new URL(url).origin, token]).toEqual([here, 'token of here']);
  });

  test.each<[string, CommonOptions, Record<string, string>]>([
    ['a --url', { url: elsewhere }, {}],
    ['a --url with another port', { url: 'http://127.0.0.1:4601' }, {}],
    ['a NATTER_URL', {}, { NATTER_URL: elsewhere }],
    ['a --url while NATTER_URL is this one', { url: elsewhere }, { NATTER_URL: here }],
  ])('is never sent elsewhere: %s', (_, options, env) => {
    expect(asked({ ...given(), ...options }, env).token).toBe('');
  });

  test('stays where another one is given with the address', () => {
    const common = { ...given(), url: elsewhere };
    expect(asked({ ...common, token: 'theirs' }).token).toBe('theirs');
    expect(asked(common, { NATTER_TOKEN: 'theirs' }).token).toBe('theirs');
  });
});

test('a file that holds no token is named', () => {
  const tokenFile = join(dataDir, 'README.md');
  for (const text of ['', '# Natter\n\nA runtime', 'tök…n']) {
    writeFileSync(tokenFile, text);
    expect(() => asked({ tokenFile })).toThrow(`--token-file: ${tokenFile} holds no token`);
  }
  writeFileSync(tokenFile, 'a-token\n');
  expect(asked({ tokenFile }).token).toBe('a-token');
});

describe('a data directory that does not exist', () => {
  const none = '/nonexistent/natter';
  const told = (source: string) => `${source}: the folder ${none} does not exist; "natter up" makes it when it starts there`;
  test.each<[string, CommonOptions, Record<string, string>]>([
    ['--data-dir', { dataDir: none }, {}],
    ['NATTER_DATA_DIR', {}, { NATTER_DATA_DIR: none }],
  ])('is told as such: %s', (source, options, env) => {
    const world = { env, home: dataDir } as unknown as World;
    expect(() => gatewayOf(world, options)).toThrow(told(source));
  });

  test.each<[string, CommonOptions, Record<string, string>]>([
    ['an address', { url: elsewhere }, {}],
    ['an address in NATTER_URL', {}, { NATTER_URL: elsewhere }],
    ['a token', { token: 'theirs' }, {}],
  ])('does not matter to whoever gives %s', (_, options, env) => {
    expect(asked({ dataDir: none, ...options }, env).url).toBe(options.url ?? env.NATTER_URL ?? here);
  });

  test('is no matter where none was named: it is the usual one, before the first start', () => {
    expect(gatewayOf({ env: {}, home: '/nonexistent' } as unknown as World, {}).url).toBe(here);
  });
});

test('F26: what a command ends with names the fix: of the gateway, or of a full disk', () => {
  const problem = { code: 'unavailable', detail: 'the disk of the broker is full', problem: 'storage_full', fix: 'free space' };
  expect(explained(new NatterApiError(503, problem))).toBe('the disk of the broker is full; free space');
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  expect(explained(full)).toMatch(/^ENOSPC: .*; free space and run it again \(docs\/operate\/operations\.md/);
});
