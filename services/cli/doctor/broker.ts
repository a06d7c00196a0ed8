import { isNewEnough, minimumServerVersion } from '../../../shared/adapters/nats/client/version.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import type { BrokerReport } from '../runtime/broker-report.ts';
import { absentAmong } from '../worker-names.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { freeSpace } from './machine.ts';

/** Checks of the broker, as functions of its report. */

/** Waiting messages, or commits a reader is behind, from which on there is a warning or a failure. */
const lag = { warn: 1_000, fail: 20_000 } as const;
/** Clock differences: the first shifts resets and expiries, with the second a lease may count as lost. */
const skew = { warnMs: 1_000, failMs: 30_000 } as const;

const atMost = (what: string, count: number, detail: string, fix: string): Finding =>
  count < lag.warn ? ok(what, detail) : (count < lag.fail ? warn : fail)(what, detail, fix);

export const brokerVersion = ({ version }: Pick<BrokerReport, 'version'>): Finding =>
  isNewEnough(version)
    ? ok('broker', `nats-server ${version} answers`)
    : fail('broker', `nats-server ${version} answers`, `use ${minimumServerVersion} or newer`);

/** JetStream is enabled and has space, if the broker tells its limit. */
export const jetStream = ({ storage }: Pick<BrokerReport, 'storage'>): Finding => {
  if (storage === null)
    return fail('jetstream', 'not enabled for this account', 'start nats-server with -js, or enable JetStream for the account');
  const { usedBytes, limitBytes } = storage;
  if (limitBytes === null) return ok('jetstream', `${(usedBytes / 1024 ** 3).toFixed(2)} GB stored`);
  return freeSpace('jetstream', 'store', limitBytes - usedBytes);
};

export const clockSkew = ({ skewMs }: Pick<BrokerReport, 'skewMs'>): Finding => {
  const ms = Math.abs(skewMs);
  const detail = `${Math.round(ms)} ms ${skewMs >= 0 ? 'behind' : 'ahead of'} the broker's`;
  const fix = 'synchronise the clocks (NTP): resets, expiries and message times depend on them';
  return ms < skew.warnMs ? ok('clock', detail) : (ms < skew.failMs ? warn : fail)('clock', detail, fix);
};

export const streams = ({ missing, restored, drift }: Pick<BrokerReport, 'missing' | 'restored' | 'drift'>): Finding => {
  if (missing.length > 0)
    return fail(
      'streams',
      `missing: ${missing.join(', ')}`,
      'run: natter nats provision; if they existed before, first find out who removed them',
    );
  if (restored.length > 0)
    return fail(
      'streams',
      `removed consumers were created again: ${restored.slice(0, 5).join(', ')}`,
      'find out who removed them',
    );
  if (drift.length > 0)
    return fail(
      'streams',
      `${drift.length} settings differ: ${drift.slice(0, 3).join('; ')}`,
      'run: natter nats provision; or use the prefix and partitions they were created with',
    );
  return ok('streams', 'all exist with the right settings');
};

/** The broker stores what it is sent, and all that the services rely on is there. That the log went back is said by `logEnd`. */
export const store = ({ problems, losses }: Pick<BrokerReport, 'problems' | 'losses'>): Finding => {
  const ofLog = ['starting', 'log_went_back'];
  const problem = problems.find(({ code }) => losses.length === 0 || !ofLog.includes(code));
  return problem === undefined
    ? ok('store', 'a message was written')
    : fail('store', `${problem.code}: ${problem.message}`, problem.fix);
};

/** The log still has everything that was seen of it (I13). */
export const logEnd = ({ lastSeq, losses }: Pick<BrokerReport, 'lastSeq' | 'losses'>): Finding => {
  if (losses.length === 0) return ok('log', `ends at sequence ${lastSeq}; nothing that was seen of it is missing`);
  return fail(
    'log',
    `log_went_back: ${losses.slice(0, 3).join('; ')}`,
    'put the newer store back, or a backup; if there is none: natter log accept. See "The log went back" in docs/operate/operations.md',
  );
};

export const queues = ({ queues: waiting }: Pick<BrokerReport, 'queues'>): Finding => {
  const most = Math.max(0, ...waiting.map(({ count }) => count));
  const detail = `waiting: ${waiting.map(({ name, count }) => `${count} ${name}`).join(', ')}`;
  return atMost(
    'queues',
    most,
    detail,
    'start more session hosts or routers (natter service session); see their problems in natter status',
  );
};

/** Requested checkpoints are processed (A7/81). */
export const checkpoints = (
  { introspection }: Pick<Config, 'introspection'>,
  { queues: waiting }: Pick<BrokerReport, 'queues'>,
): Finding => {
  const count = waiting.find(({ name }) => name === 'checkpoints')?.count ?? 0;
  if (introspection.enabled) return ok('checkpoints', `${count} waiting`);
  if (count === 0) return ok('checkpoints', 'turned off');
  return warn(
    'checkpoints',
    `${count} waiting, but introspection.enabled is false`,
    'set it to true and restart the checkpoint services; they process what waits',
  );
};

/** How far the readers of the log are behind. */
export const followers = ({ lastSeq, cursors }: Pick<BrokerReport, 'lastSeq' | 'cursors'>): Finding => {
  const behind = cursors.map(({ name, seq, behind: left }) => ({ name, seq, behind: left }));
  const most = Math.max(0, ...behind.map((each) => each.behind));
  const detail = behind.map((each) => `${each.name} at ${each.seq} of ${lastSeq}`).join(', ');
  return atMost('cursors', most, detail, 'a reader is behind: see its service in natter status, and its outlets in its log');
};

/** Every service runs somewhere, and no process reports a problem. */
export const processes = ({ processes: reports }: Pick<BrokerReport, 'processes'>): Finding => {
  const running = reports.flatMap(({ services }) => services);
  const names = new Set(running.map(({ name }) => name));
  const absent = absentAmong(names);
  const problems = running.flatMap(({ name, problems: own }) => own.map((problem) => `${name}: ${problem}`));
  const warnings = running.flatMap(({ name, warnings: own }) => own.map((warning) => `${name}: ${warning}`));
  const detail = `${reports.length} processes with ${[...names].join(', ')}`;
  if (reports.length === 0) return fail('processes', 'no process reports its health', 'start natter up');
  if (absent.length > 0)
    return fail('processes', `no process runs ${absent.join(', ')}`, `start natter up, or natter service ${absent[0]}`);
  if (problems.length > 0) return fail('processes', problems.slice(0, 3).join('; '), 'see natter status');
  if (warnings.length > 0) return warn('processes', warnings.slice(0, 3).join('; '), 'see natter status');
  return ok('processes', detail);
};

export const deadLetters = ({ deadLetters: count }: Pick<BrokerReport, 'deadLetters'>): Finding =>
  count === 0
    ? ok('dead letters', 'none')
    : warn(
        'dead letters',
        `${count} messages could not be processed`,
        'natter dead-letters lists them with the reason; see "Dead letters" in docs/operate/operations.md',
      );

export const openDeliveries = ({ openDeliveries: count }: Pick<BrokerReport, 'openDeliveries'>): Finding =>
  count === 0
    ? ok('deliveries', 'no message to a person is known to have failed')
    : warn(
        'deliveries',
        `${count} messages to people may not have arrived`,
        'natter deliveries lists them; repeat or leave each',
      );
