import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import JSON5 from 'json5';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chatCommandIn } from '../../../../shared/domain/routing/chat-command.ts';
import { inboundEnvelope } from '../../../../shared/domain/routing/inbound-envelope.ts';
import { route } from '../../../../shared/domain/routing/route.ts';
import { type Config, keysOf, loadConfig, secretsOf } from '../../../../shared/runtime/config/load.ts';
import { linesOf } from '../../../../shared/runtime/config/locate.ts';

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

/** Which of these words reset. */
const resetWords = ({ session }: Config): string[] =>
  ['/new', '/reset', '/fresh', '/newer', 'new'].filter(
    (word) => chatCommandIn(word, { triggers: session.resetTriggers })?.type === 'reset',
  );
/** The key of a direct message without an account. */
const directKey = (config: Config): string => {
  const envelope = {
    id: 'm1',
    channel: 'telegram',
    conversation: { id: '7', kind: 'direct' },
    sender: { id: '7' },
    text: 'hi',
    at: 1,
  };
  const routed = route(inboundEnvelope.parse(envelope), config, 1);
  return 'command' in routed ? routed.command.key : JSON.stringify(routed);
};

describe('configuration (A14)', () => {
  test('nothing is required (A14/141)', () => {
    const config = loadConfig({ env: {}, home: join(home, 'nobody') });
    expect(config).toMatchObject({ prefix: 'natter', dataDir: join(home, 'nobody', '.natter'), gateway: { port: 4600 } });
  });

  test.each<[rule: string, file: string, read: (config: Config) => unknown, value: unknown]>([
    ['A3/23: scope', '{}', ({ session }) => session.scope, 'per-sender'],
    ['A3/24, A14/141: dmScope', '{}', ({ session }) => session.dmScope, 'main'],
    ['A3/20, A14/141: mainKey', '{}', ({ session }) => session.mainKey, 'main'],
    ['A14/141: mode of a reset', '{ session: { reset: {} } }', ({ session }) => session.reset?.mode, 'daily'],
    ['A4/44, A14/141: hour of a reset', '{ session: { reset: {} } }', ({ session }) => session.reset?.atHour, 4],
    ['A4/53, A14/141: /new and /reset reset, nothing else', '{}', resetWords, ['/new', '/reset']],
    [
      'A4/53, C17: more triggers do not replace them',
      '{ session: { resetTriggers: ["/fresh"] } }',
      resetWords,
      ['/new', '/reset', '/fresh'],
    ],
    ['A9/91, A14/141: sendPolicy.default', '{}', ({ session }) => session.sendPolicy, { rules: [], default: 'allow' }],
    [
      'A3/28, A14/141: accountId',
      '{ session: { dmScope: "per-account-channel-peer" } }',
      directKey,
      'agent:main:telegram:default:dm:7',
    ],
    ['A3/20: the key of a direct message', '{}', directKey, 'agent:main:main'],
    ["A4/44: the host's zone", '{}', ({ session }) => session.timeZone, Intl.DateTimeFormat().resolvedOptions().timeZone],
    ['A4/44: another zone', '{ session: { timeZone: "Asia/Kolkata" } }', ({ session }) => session.timeZone, 'Asia/Kolkata'],
  ])('default of %s', (_, file, read, value) => {
    expect(read(load(file))).toEqual(value);
  });

  test.each([
    ['C5, A9/92: `surface` is the older name of `channel`', '{ surface: "discord" }', { channel: 'discord' }],
    ['C5: the newer name wins', '{ surface: "discord", channel: "irc" }', { channel: 'irc' }],
    ['A9/92: `keyPrefix` and `chatType`', '{ keyPrefix: "cron:", chatType: "group" }', { keyPrefix: 'cron:', chatType: 'group' }],
  ])('%s', (_, match, expected) => {
    const config = load(`{ session: { sendPolicy: { rules: [{ action: "deny", match: ${match} }] } } }`);
    expect(config.session.sendPolicy.rules).toEqual([{ action: 'deny', match: expected }]);
  });

  test('A14/140: every key of the specification can be written', () => {
    const file = `{ session: { scope: 'global', dmScope: 'per-peer', identityLinks: { ann: ['irc:a'] },
      reset: { mode: 'idle', atHour: 0, idleMinutes: 5 }, resetByType: { dm: { mode: 'idle' }, group: {}, thread: {} },
      resetByChannel: { discord: { mode: 'idle', idleMinutes: 10080 } }, resetTriggers: ['/fresh'], store: '/x/{agentId}',
      mainKey: 'home', sendPolicy: { rules: [], default: 'deny' }, idleMinutes: 7 } }`;
    expect(load(file).session).toMatchObject(JSON5.parse(file).session);
  });

  test('JSON5: comments, trailing commas, unquoted keys (A14/140)', () => {
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

  test('A2/19: `session.store` likewise, whatever the data directory is', () => {
    expect(load('{ session: { store: "~/m/{agentId}" } }').session.store).toBe(join(home, 'm', '{agentId}'));
    expect(load('{ session: { store: "m" } }', { NATTER_DATA_DIR: '/d' }).session.store).toBe(join(home, 'm'));
  });
  test('`agent.workspace` likewise; there is none unless said', () => {
    expect(load('{}').agent.workspace).toBeUndefined();
    expect(load('{ agent: { workspace: "~/w" } }').agent.workspace).toBe(join(home, 'w'));
    expect(load('{ agent: { workspace: "w" } }', { NATTER_DATA_DIR: '/d' }).agent.workspace).toBe(join(home, 'w'));
  });

  test('secrets are found wherever the schema has them (I12)', () => {
    const config = load(
      '{ gateway: {token:"g"}, nats: {token:"n"}, outlets: {webhooks: {a: {url:"http://h/", secret:"w"}}}, model: {providers: {p: {kind:"anthropic", apiKeyEnv:"KEY"}}} }',
    );
    expect(secretsOf(config, { KEY: 'k', OTHER: 'o' }).sort()).toEqual(['g', 'k', 'n', 'w']);
  });

  test('what a program gets is hidden in the log, but it is no key: it may be a path, which people must be able to read', () => {
    const config = load('{ tools: {exec: {environment: ["PROJECT"]}}, nats: {token: "n"} }');
    expect(secretsOf(config, { PROJECT: '/p' })).toEqual(['n', '/p']);
    expect(keysOf(config, { PROJECT: '/p' })).toEqual(['n']);
  });

  test('files of the broker are relative to the configuration, in a variable to where it is set', () => {
    const { nats } = load('{ nats: { tls: { caFile: "ca.pem" }, credsFile: "~/c" } }', { NATS_NKEY: 'k' });
    expect(nats).toMatchObject({ tls: { caFile: join(home, 'ca.pem') }, credsFile: join(home, 'c'), nkeySeedFile: resolve('k') });
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
    ['[]', {}, /natter\.json: use an object/],
    ['{ a: 1\n b: 2 }', {}, /natter\.json:2:2: not JSON5: invalid character 'b'/],
    ['', {}, /natter\.json:1:1: not JSON5/],
    ['{}', { NATTER_PORT: 'many' }, /^NATTER_PORT: gateway\.port: /],
    ['{ gateway: 5 }', { NATTER_PORT: '1' }, /natter\.json:1: gateway: /],
  ])('%j', (text, env: Record<string, string>, message) => {
    expect(() => load(text, env)).toThrow(expect.objectContaining({ code: 'invalid', message: expect.stringMatching(message) }));
    expect({}).not.toHaveProperty('polluted');
  });

  test.each([
    [
      'A9/92: a key within a rule of the send policy',
      '{ session: { sendPolicy: {\n rules: [{ action: "deny",\n match: { chanel: "irc" } }] } } }',
      /natter\.json:3: session\.sendPolicy\.rules\.0\.match\.chanel: unknown key; did you mean "channel"\?/,
    ],
    [
      'A9/91: an action that does not exist',
      '{ session: { sendPolicy: { rules: [\n{ action: "allow", match: {} },\n{ action: "block", match: {} }] } } }',
      /natter\.json:3: session\.sendPolicy\.rules\.1\.action: use one of "allow", "deny"/,
    ],
    [
      'A4/51: a type of session that does not exist',
      '{ session: { resetByType: {\n dms: {} } } }',
      /natter\.json:2: session\.resetByType\.dms: unknown key; did you mean "dm"\?/,
    ],
    [
      'A4/52: a key of a channel',
      '{ session: { resetByChannel: {\n discord: { idleMinuets: 1 } } } }',
      /natter\.json:2: session\.resetByChannel\.discord\.idleMinuets: unknown key; did you mean "idleMinutes"\?/,
    ],
    [
      'A4/50: an hour that does not exist',
      '{ session: { reset: {\n atHour: 24 } } }',
      /natter\.json:2: session\.reset\.atHour: /,
    ],
    [
      'A4/44: a zone that does not exist',
      '{ session: {\n timeZone: "Mars/Olympus" } }',
      /natter\.json:2: session\.timeZone: is not an IANA time zone/,
    ],
    ['a key of another part', '{ allowFrom: ["ann"] }', /allowFrom: unknown key; did you mean "channels\.<name>\.allowFrom"\?/],
    [
      'A3/21: a main key that would read as another key',
      '{ session: {\n mainKey: "dm:ann" } }',
      /natter\.json:2: session\.mainKey: use one word/,
    ],
    [
      'A3/40: a main key that is internal',
      '{ session: { mainKey: "global" } }',
      /session\.mainKey: .*"global", "unknown" and "memory" are taken/,
    ],
    [
      'A7/82, I12: a main key of the session that has the memories of others in its log',
      '{ session: { mainKey: "memory" } }',
      /session\.mainKey: .*"memory" are taken/,
    ],
    [
      'A3/29: an id of two people, with both names',
      '{ session: { identityLinks: {\n ann: ["irc:a", "telegram:1"],\n bob: ["irc:b",\n "telegram:1"] } } }',
      /natter\.json:4: session\.identityLinks\.bob\.1: "telegram:1" is claimed by "ann" and by "bob"/,
    ],
    [
      'A3/29: a name that no key can have',
      '{ session: { identityLinks: {\n "Ann Lee": ["irc:a"] } } }',
      /natter\.json:2: session\.identityLinks\.Ann Lee: "Ann Lee" cannot be part of a session key; use a short name/,
    ],
    [
      'A3/29: a name that is the id of somebody else',
      '{ session: { identityLinks: {\n "telegram:7": ["irc:a"] } } }',
      /natter\.json:2: session\.identityLinks\.telegram:7: .* cannot be part of a session key/,
    ],
    [
      'A8/89: a participant that is nobody',
      `{ gateway: { tokens: {\n phone: { role: "participant", sha256: "${'a'.repeat(64)}" } } } }`,
      /gateway\.tokens\.phone\.principal: is missing; role "participant" must name/,
    ],
    [
      'A8/90: a channel token for no channel',
      `{ gateway: { tokens: {\n bot: { role: "channel", principal: "x", sha256: "${'a'.repeat(64)}" } } } }`,
      /gateway\.tokens\.bot\.namespace: is missing; role "channel" must name/,
    ],
    [
      'B23: a link to a session, which is made while that is there',
      `{ gateway: { tokens: {\n bob: { role: "viewer", sha256: "${'a'.repeat(64)}" } } } }`,
      /gateway\.tokens\.bob\.role: .*"read-only"/,
    ],
    [
      'A3/31: what must not be, with session.strict',
      '{ session: { strict: true }, channels: { irc: {} } }',
      /^session\.strict: anybody may write on irc, .*set session\.dmScope to "per-channel-peer"$/,
    ],
  ])('%s', (_, text, message) => {
    expect(() => load(text)).toThrow(expect.objectContaining({ code: 'invalid', message: expect.stringMatching(message) }));
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
