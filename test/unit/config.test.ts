import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig, secretsOf } from '../../shared/config/load.ts';
import { linesOf } from '../../shared/config/locate.ts';

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'natter-config-'));
});
afterAll(() => rmSync(home, { recursive: true }));

const load = (text: string, env: Record<string, string> = {}) => {
  const file = join(home, 'natter.json');
  writeFileSync(file, text);
  return loadConfig({ file, env, home });
};

describe('configuration (A14)', () => {
  test('nothing is required (A14/141)', () => {
    const config = loadConfig({ env: {}, home: join(home, 'nobody') });
    expect(config).toMatchObject({ prefix: 'natter', dataDir: join(home, 'nobody', '.natter'), gateway: { port: 4600 } });
  });

  test('JSON5: comments, trailing commas, unquoted keys', () => {
    expect(load('{ // a comment\n gateway: { port: 1234, }, }').gateway.port).toBe(1234);
  });

  test('the environment wins over the file', () => {
    const env = {
      NATS_URL: 'nats://h:1',
      NATTER_TOKEN: 't',
      NATTER_PORT: '99',
      NATTER_DATA_DIR: '/d',
      NATTER_MODEL: 'a/b',
      NATTER_PREFIX: '',
    };
    const config = load('{ gateway: { port: 1, host: "::1" }, dataDir: "elsewhere" }', env);
    expect(config).toMatchObject({
      nats: { url: 'nats://h:1' },
      gateway: { port: 99, host: '::1', token: 't' },
      dataDir: '/d',
      agent: { model: 'a/b' },
      prefix: 'natter',
    });
  });

  test('the data directory: `~` is home, a relative one stands beside the file', () => {
    expect(load('{ dataDir: "~/x" }').dataDir).toBe(join(home, 'x'));
    expect(load('{ dataDir: "x" }').dataDir).toBe(join(home, 'x'));
  });

  test('secrets are found wherever the schema has them (I12)', () => {
    const config = load(
      '{ gateway: {token:"g"}, nats: {token:"n"}, outlets: {webhooks: {a: {url:"http://h/", secret:"w"}}}, model: {providers: {p: {kind:"anthropic", apiKeyEnv:"KEY"}}} }',
    );
    expect(secretsOf(config, { KEY: 'k', OTHER: 'o' }).sort()).toEqual(['g', 'k', 'n', 'w']);
  });
});

describe('an error names the place, the field and the mend', () => {
  test.each([
    ['{ gateway: { prot: 1 } }', {}, /natter\.json:1: gateway\.prot: unknown key; did you mean "port"\?/],
    ['{\n port: 1 }', {}, /natter\.json:2: port: unknown key; did you mean "gateway\.port"\?/],
    ['{\n\n colour: "red" }', {}, /natter\.json:3: colour: unknown key; remove it, or use one of: prefix, dataDir, nats/],
    ['{ agent: {\n owners: ["a",\n 7] } }', {}, /natter\.json:3: agent\.owners\.1: /],
    ['{ gateway: {\n /* { */ port: 70000 } }', {}, /natter\.json:2: gateway\.port: /],
    ['{ nats: { replicas: 2 } }', {}, /natter\.json:1: nats\.replicas: /],
    ['{ "__proto__": { "polluted": 1 } }', {}, /__proto__: unknown key/],
    ['[]', {}, /natter\.json: .*expected object/],
    ['{ a: 1\n b: 2 }', {}, /natter\.json:2:2: not JSON5: invalid character 'b'/],
    ['', {}, /natter\.json:1:1: not JSON5/],
    ['{}', { NATTER_PORT: 'many' }, /^NATTER_PORT: gateway\.port: /],
    ['{ gateway: 5 }', { NATTER_PORT: '1' }, /natter\.json:1: gateway: /],
  ])('%j', (text, env: Record<string, string>, message) => {
    expect(() => load(text, env)).toThrow(expect.objectContaining({ code: 'invalid', message: expect.stringMatching(message) }));
    expect({}).not.toHaveProperty('polluted');
  });

  test('all problems at once, one a line', () => {
    expect(() => load('{ a: 1,\n b: 2 }')).toThrow(/:1: a: .*\n.*:2: b: /);
  });

  test('a file that was named must be there', () => {
    expect(() => loadConfig({ file: join(home, 'none.json'), env: {}, home })).toThrow(/none\.json: cannot be read.*--config/);
  });
});

test('lines of fields: strings, comments and nesting do not confuse the count', () => {
  const text = '{\n"a": "x:{,\\"", // {\n b: [1,\n {c: 2}],\n /* \n */ d: { e: [] }, f: \'}\' }';
  expect(Object.fromEntries(linesOf(text))).toEqual({ a: 2, b: 3, 'b.0': 3, 'b.1': 4, 'b.1.c': 4, d: 6, 'd.e': 6, f: 6 });
});
