import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as broker from '../../../../services/cli/doctor/broker.ts';
import * as machine from '../../../../services/cli/doctor/machine.ts';
import { usersFolder } from '../../../../services/cli/installation.ts';
import { fullAmong } from '../../../../services/cli/runtime/broker-report.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { HealthProblem } from '../../../../shared/kit/health-problem.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import type { IssuedToken } from '../../../../shared/ports/access/tokens.ts';
import type { HealthReport } from '../../../../shared/ports/presence.ts';
import * as exposure from '../../../../shared/runtime/doctor/exposure.ts';
import { checked, type Finding } from '../../../../shared/runtime/doctor/finding.ts';
import * as system from '../../../../shared/runtime/doctor/system.ts';

/** Each check of `natter doctor`, once as it should be and once for each way it can be wrong. */

const now = 1_800_000_000_000;
const day = 86_400_000;
const gigabyte = 1024 ** 3;
const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'natter-doctor-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
};
const config = (given: object = {}) => configSchema.parse(given);
const issued = (change: Partial<IssuedToken> = {}): IssuedToken => ({
  ...{ v: 1, id: 'abc', role: 'owner', label: '', createdAt: 1, createdBy: 'token:api', secrets: [{ sha256: 'a'.repeat(64) }] },
  ...change,
});
const running = (names: readonly string[], change: object = {}): HealthReport => ({
  ...{ v: 1, process: 'up-1', version: '1', startedAt: 1, at: 2 },
  services: names.map((name) => ({ name, problems: [], warnings: [], metrics: {}, ...change })),
});
const services = ['session', 'router', 'checkpoint', 'delivery', 'gateway'];
const heldBack = running(['delivery'], { waiting: [{ channel: 'irc', state: 'waiting', until: 9, detail: 'no answer' }] });
const cursor = (name: string, seq: number, behind = 0) => ({ name, seq, behind });
const waitingCheckpoints = { queues: [{ name: 'checkpoints', count: 3 }], failedCheckpoint: null };
const failing = (count: number) => [running(['session'], { metrics: { turns_failed_since_success: count } }), running(services)];
const notLooking = config({ introspection: { enabled: false } });
const whole = { missing: [], full: [], restored: [], drift: [] };
const someHash = 'f'.repeat(64);

/** The secrets that are checked at where the configuration is not in the data directory. */
const elsewhere = (text: string): Finding => {
  const path = join(folder(), 'elsewhere.json');
  writeFileSync(path, text);
  chmodSync(path, 0o644);
  return machine.secretFiles(folder(), { path, secrets: ['planted'] });
};

const rows: readonly [what: string, level: Finding['level'], found: () => Finding, says: RegExp][] = [
  ['this Node', 'ok', () => machine.nodeVersion(process.versions.node), /^\d/],
  ['the oldest Node', 'ok', () => machine.nodeVersion('20.19.0'), /20\.19/],
  ['a newer Node', 'ok', () => machine.nodeVersion('22.0.0'), /22/],
  ['an old Node', 'fail', () => machine.nodeVersion('20.18.3'), /install Node 20\.19/],
  ['a disk with room', 'ok', () => machine.freeSpace('disk', '/d', 9 * gigabyte), /9\.0 GB/],
  ['a disk that fills', 'warn', () => machine.freeSpace('disk', '/d', 2 * gigabyte), /free some space/],
  ['a full disk', 'fail', () => machine.freeSpace('disk', '/d', 1_000), /0\.0 GB free/],
  ['no data yet', 'fail', () => machine.dataDirectory('/nonexistent/natter'), /start natter up once/],
  [
    'secrets of one user',
    'ok',
    () => {
      const path = folder();
      writeFileSync(join(path, 'gateway.json'), '{}', { mode: 0o600 });
      return machine.secretFiles(path);
    },
    /only this user/,
  ],
  [
    'secrets of all',
    'fail',
    () => {
      const path = folder();
      writeFileSync(join(path, 'broker.json'), '{}');
      chmodSync(join(path, 'broker.json'), 0o644);
      return machine.secretFiles(path);
    },
    /chmod 600 .*broker\.json/,
  ],
  [
    "a broker user's seed of all",
    'fail',
    () => {
      const path = folder();
      const seed = join(usersFolder(path), 'session.nk');
      mkdirSync(usersFolder(path), { recursive: true });
      writeFileSync(seed, '');
      chmodSync(seed, 0o644);
      return machine.secretFiles(path);
    },
    /chmod 600 .*session\.nk/,
  ],
  ['a configuration elsewhere that all can read', 'ok', () => elsewhere('{}'), /only this user/],
  ['… with a secret in it', 'fail', () => elsewhere('{ gateway: { token: "planted" } }'), /chmod 600 .*elsewhere\.json/],
  ['nobody who shares', 'ok', () => exposure.directMessages(config()), /no two people/],
  [
    'people who share a session',
    'fail',
    () => exposure.directMessages(config({ session: { dmScope: 'main' }, channels: { irc: {} } })),
    /anybody may write on irc/,
  ],
  [
    'nobody who is the owner',
    'warn',
    () => exposure.owner(config({ channels: { irc: {} } })),
    /agent\.owners is empty.*<channel>:<id>/,
  ],
  ['an owner', 'ok', () => exposure.owner(config({ agent: { owners: ['irc:ann'] }, channels: { irc: {} } })), /have an owner/],
  ['no channels', 'ok', () => exposure.owner(config()), /there are none/],
  ['loopback', 'ok', () => exposure.bindAddress(config()), /this machine only/],
  ['all addresses', 'fail', () => exposure.bindAddress(config({ gateway: { host: '0.0.0.0' } })), /allowPublicBind/],
  [
    'all addresses, meant, without a proxy',
    'warn',
    () => exposure.bindAddress(config({ gateway: { host: '0.0.0.0', allowPublicBind: true } })),
    /trustedProxies/,
  ],
  [
    'all addresses behind a proxy',
    'ok',
    () => exposure.bindAddress(config({ gateway: { host: '::', allowPublicBind: true, trustedProxies: ['10.0.0.7'] } })),
    /behind 10\.0\.0\.7/,
  ],
  ['values as they come', 'ok', () => exposure.configuredValues(config()), /no guessable token/],
  ['a short token', 'warn', () => exposure.configuredValues(config({ gateway: { token: 'secret' } })), /gateway\.token is short/],
  [
    'a broker elsewhere',
    'warn',
    () => exposure.configuredValues(config({ nats: { url: 'tls://a:4222,nats://b.example:4222' } })),
    /use tls/,
  ],
  [
    'a broker elsewhere with files for TLS',
    'ok',
    () => exposure.configuredValues(config({ nats: { url: 'nats://b.example:4222', tls: { caFile: '/ca.pem' } } })),
    /no guessable token/,
  ],
  [
    'a broker here',
    'ok',
    () => exposure.configuredValues(config({ nats: { url: 'nats://127.0.0.1:4222' } })),
    /no guessable token/,
  ],
  [
    'a page without TLS',
    'warn',
    () => exposure.configuredValues(config({ gateway: { allowedOrigins: ['http://chat.example.org'] } })),
    /http:\/\/chat\.example\.org/,
  ],
  [
    'a page in development',
    'ok',
    () => exposure.configuredValues(config({ gateway: { allowedOrigins: ['http://localhost:3000'] } })),
    /no guessable token/,
  ],
  [
    'a webhook without TLS',
    'warn',
    () => exposure.configuredValues(config({ outlets: { webhooks: { irc: { url: 'http://bot.example/x', secret: 's' } } } })),
    /webhooks\.irc/,
  ],
  [
    'a webhook that is asked without TLS',
    'warn',
    () => {
      const irc = { url: 'https://bot.example/x', statusUrl: 'http://bot.example/status', secret: 's' };
      return exposure.configuredValues(config({ outlets: { webhooks: { irc } } }));
    },
    /webhooks\.irc/,
  ],
  ['no token, on loopback', 'ok', () => exposure.tokens(config(), [], now), /installation's own/],
  ['no token, for all', 'warn', () => exposure.tokens(config({ gateway: { host: '0.0.0.0' } }), [], now), /create a token/],
  ['a token', 'ok', () => exposure.tokens(config(), [issued()], now), /^1 /],
  [
    'a token of the file, for all',
    'ok',
    () => exposure.tokens(config({ gateway: { host: '0.0.0.0', tokens: { a: { sha256: someHash, role: 'owner' } } } }), [], now),
    /^1 /,
  ],
  ['a token that has ended', 'warn', () => exposure.tokens(config(), [issued({ expiresAt: now - 1 })], now), /have expired: abc/],
  [
    'a token that ends',
    'warn',
    () => exposure.tokens(config(), [issued({ expiresAt: now + 6 * day })], now),
    /within 7 days: abc/,
  ],
  [
    'links to shared sessions, which are made to end',
    'ok',
    () =>
      exposure.tokens(
        config(),
        [issued({ role: 'viewer', expiresAt: now + 6 * day }), issued({ role: 'viewer', expiresAt: now - 1 })],
        now,
      ),
    /^1 /,
  ],
  [
    'a page that is signed in',
    'ok',
    () =>
      exposure.tokens(config(), [issued({ expiresAt: now + day / 2, parent: { actor: 'token:api', sha256: someHash } })], now),
    /only the installation's own/,
  ],
  ['a token that ends later', 'ok', () => exposure.tokens(config(), [issued({ expiresAt: now + 8 * day })], now), /^1 /],
  [
    'a revoked token',
    'ok',
    () => exposure.tokens(config(), [issued({ revokedAt: 1, expiresAt: now - 1 })], now),
    /only the installation/,
  ],
  ['a broker', 'ok', () => broker.brokerVersion({ version: '2.15.1' }), /2\.15\.1/],
  ['an old broker', 'fail', () => broker.brokerVersion({ version: '2.10.0' }), /use 2\.12\.0 or newer/],
  ['no JetStream', 'fail', () => broker.jetStream({ storage: null }), /-js/],
  ['JetStream without a limit', 'ok', () => broker.jetStream({ storage: { usedBytes: gigabyte, limitBytes: null } }), /1\.00 GB/],
  [
    'a store that is full',
    'fail',
    () => broker.jetStream({ storage: { usedBytes: 10 * gigabyte, limitBytes: 10 * gigabyte } }),
    /free some space/,
  ],
  ['clocks that agree', 'ok', () => broker.clockSkew({ skewMs: -20 }), /20 ms ahead/],
  ['a clock that is behind', 'warn', () => broker.clockSkew({ skewMs: 2_000 }), /2000 ms behind.*NTP/],
  ['a clock of another day', 'fail', () => broker.clockSkew({ skewMs: -day }), /ahead/],
  ['all streams', 'ok', () => broker.streams(whole), /all exist/],
  ['a stream that is gone', 'fail', () => broker.streams({ ...whole, missing: ['NATTER_DEAD'] }), /NATTER_DEAD.*provision/],
  [
    'a stream that is full',
    'fail',
    () => broker.streams({ ...whole, full: ['X has 9 of 9 bytes'] }),
    /full.*X has 9.*nats stream edit/,
  ],
  ['a consumer that was gone', 'fail', () => broker.streams({ ...whole, restored: ['X/partition-1'] }), /partition-1/],
  ['a setting that differs', 'fail', () => broker.streams({ ...whole, drift: ['X: a is 1, not 2'] }), /a is 1, not 2/],
  [
    'a setting that nothing can change, of a stream that somebody made again',
    'fail',
    () =>
      broker.streams({
        ...whole,
        restored: ['X/a'],
        drift: ['X: retention is 1, not 2 (the stream has to be recreated, see …)'],
      }),
    /^1 setting differs: X: retention is 1.*; removed consumers were created again: X\/a → .*create the stream again/,
  ],
  [
    'a restore that was interrupted',
    'fail',
    () => broker.streams({ ...whole, drift: ['X: restore is not finished: run "natter restore" again, not finished'] }),
    /→ run "natter restore" again/,
  ],
  ['a log', 'ok', () => broker.logEnd({ lastSeq: 5, losses: [] }), /ends at sequence 5/],
  [
    'I13: a log that lost its end',
    'fail',
    () => broker.logEnd({ lastSeq: 5, losses: ['the index: the event log ends at 5, but had reached 7'] }),
    /log_went_back: the index: .* had reached 7.*natter log accept/,
  ],
  ['queues that move', 'ok', () => system.queues({ queues: [{ name: 'commands', count: 3 }] }), /3 commands/],
  ['a queue that waits', 'warn', () => system.queues({ queues: [{ name: 'inbound', count: 1_000 }] }), /more session hosts/],
  [
    'a queue that stands',
    'fail',
    () => system.queues({ queues: [{ name: 'inbound', count: 50_000 }] }),
    /50000 messages from channels/,
  ],
  [
    'readers at the end',
    'ok',
    () => system.followers({ lastSeq: 9, cursors: [cursor('index', 9)] }),
    /of 9 commits the list of sessions has read 9/,
  ],
  ['a reader behind', 'warn', () => system.followers({ lastSeq: 9_000, cursors: [cursor('index', 1, 8_999)] }), /is behind/],
  [
    'a reader that stands',
    'fail',
    () => system.followers({ lastSeq: 99_000, cursors: [cursor('delivery', 1, 98_999)] }),
    /delivery has read 1/,
  ],
  ['a broker that stores', 'ok', () => system.store({ problems: [], losses: [] }), /was written/],
  ['a full disk', 'fail', () => system.store({ problems: [full, wentBack], losses: ['lost'] }), /storage_full: .*→ free space/],
  ['a log that went back, said in its own line', 'ok', () => system.store({ problems: [wentBack], losses: ['lost'] }), /written/],
  ['a log that is not known yet', 'fail', () => system.store({ problems: [wentBack], losses: [] }), /log_went_back/],
  ['all services', 'ok', () => system.processes({ processes: [running(services)] }), /^1 process with/],
  [
    'hosts of their own',
    'ok',
    () => system.processes({ processes: [running(['hosts', ...services.slice(1)]), running(['session'])] }),
    /2 processes with .*session/,
  ],
  [
    'hosts that run and say nothing',
    'fail',
    () => system.processes({ processes: [running(['hosts', ...services.slice(1)])] }),
    /no process runs session/,
  ],
  ['nobody there', 'fail', () => system.processes({ processes: [] }), /start natter up/],
  [
    'nobody who can say so',
    'fail',
    () => system.processes({ processes: [], problems: [full] }),
    /the broker does not store.*see "store"/,
  ],
  ['no session host', 'fail', () => system.processes({ processes: [running(services.slice(1))] }), /no process runs session/],
  [
    'a host with a problem',
    'fail',
    () => system.processes({ processes: [running(services), running(['session'], { problems: ['no leader'] })] }),
    /session: no leader/,
  ],
  [
    'a host that misses a tool',
    'warn',
    () => system.processes({ processes: [running(services), running(['session'], { warnings: ['mcp: x is away'] })] }),
    /session: mcp: x is away/,
  ],
  ['checkpoints that wait', 'ok', () => system.checkpoints(config(), waitingCheckpoints), /3 wait/],
  ['checkpoints that nobody does', 'warn', () => system.checkpoints(notLooking, waitingCheckpoints), /introspection.enabled/],
  ['none where nobody does any', 'ok', () => system.checkpoints(notLooking, { queues: [], failedCheckpoint: null }), /off/],
  [
    'checkpoints that fail',
    'warn',
    () => system.checkpoints(config(), { ...waitingCheckpoints, failedCheckpoint: 'agent:main:main' }),
    /3 waiting; the last one failed, of agent:main:main.*natter tail --from 1 --type introspection_failed.*natter checkpoint KEY/,
  ],
  ['answers', 'ok', () => system.answers({ processes: [running(services)] }), /did not fail/],
  [
    'answers that fail',
    'warn',
    () => system.answers({ processes: failing(1) }),
    /the last one failed.*natter tail --from 1 --type turn_failed/,
  ],
  ['no dead letters', 'ok', () => system.deadLetters({ deadLetters: 0 }), /none/],
  ['every message arrived', 'ok', () => system.openDeliveries({ openDeliveries: 0, processes: [] }), /no message/],
  ['deliveries', 'warn', () => system.openDeliveries({ openDeliveries: 2, processes: [] }), /2 messages/],
  [
    'deliveries that wait',
    'warn',
    () => system.openDeliveries({ openDeliveries: 0, processes: [heldBack] }),
    /on irc: no answer/,
  ],
  ['dead letters', 'warn', () => system.deadLetters({ deadLetters: 3 }), /3 messages/],
];

const full = new HealthProblem('storage_full', 'the disk is full');
const wentBack = new HealthProblem('log_went_back', 'the event log ends at 7');

describe('natter doctor', () => {
  test.each(rows)('%s: %s', (_, level, found, says) => {
    const { level: told, detail, fix } = found();
    expect(told).toBe(level);
    expect(`${detail} → ${fix ?? ''}`).toMatch(says);
    expect(fix !== undefined).toBe(level !== 'ok');
  });

  test('what cannot be checked at is a failure with its reason', async () => {
    const broken = checked('data', 'mend it', () => {
      throw new Error('no right to write');
    });
    expect(await broken).toEqual({ what: 'data', level: 'fail', detail: 'no right to write', fix: 'mend it' });
  });
});

test('delivery that can take nothing more is behind by all that waits in the log', () => {
  const having = (in_hand: number) => [running(['delivery'], { metrics: { in_hand } })];
  expect(system.deliveryBehind(having(3), 40_000)).toBe(3);
  expect(system.deliveryBehind(having(limits.deliveryWindow), 40_000)).toBe(40_000);
});

test('a stream is full at a limit beyond which it refuses, and not where it drops its oldest or has room', () => {
  const stream = (name: string, config: object, state: object) => ({
    ...{ config: { name, discard: 'new', max_bytes: -1, max_msgs: -1, ...config }, state: { bytes: 0, messages: 0, ...state } },
  });
  const infos = [
    stream('A', { max_bytes: 1_000 }, { bytes: 990 }),
    stream('B', { max_msgs: 3 }, { messages: 3 }),
    stream('C', { discard: 'old', max_bytes: 1_000 }, { bytes: 1_000 }),
    stream('D', { max_bytes: gigabyte, max_msgs: 9 }, { bytes: 1_000, messages: 8 }),
    stream('E', {}, { bytes: gigabyte, messages: 1_000_000 }),
  ];
  expect(fullAmong(infos as never)).toEqual(['A has 990 of 1000 bytes', 'B has 3 of 3 messages']);
});
