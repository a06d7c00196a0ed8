import { isNewEnough, minimumServerVersion } from '../../../shared/adapters/nats/client/version.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { type Finding, fail, ok, warn } from '../../../shared/runtime/doctor/finding.ts';
import type { BrokerReport } from '../runtime/broker-report.ts';
import { freeSpace } from './machine.ts';

/** Checks of the broker, as functions of its report. */

/** Clock differences: the first shifts resets and expiries, with the second a lease may count as lost. */
const skew = { warnMs: 1_000, failMs: 30_000 } as const;

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

/** What mends settings that differ. */
const repairOf = (drift: readonly string[]): string => {
  if (drift.some((line) => line.includes('natter restore')))
    return 'run "natter restore" again: nothing starts before it is finished';
  if (drift.some((line) => line.includes('has to be recreated')))
    return 'no command can change this: create the stream again, step by step as in "Older streams" in docs/operate/broker.md';
  return 'run: natter nats provision; what it leaves, set with "nats stream edit", or use the prefix and partitions they were created with';
};

export const streams = ({
  missing,
  full,
  restored,
  drift,
}: Pick<BrokerReport, 'missing' | 'full' | 'restored' | 'drift'>): Finding => {
  if (missing.length > 0)
    return fail(
      'streams',
      `missing: ${missing.join(', ')}`,
      'run: natter nats provision; if they existed before, first find out who removed them',
    );
  if (full.length > 0)
    return fail(
      'streams',
      `full, so new messages are refused: ${full.join(', ')}`,
      'somebody has set this limit: remove it with "nats stream edit NAME --max-bytes=-1 --max-msgs=-1"',
    );
  const again = restored.length > 0 ? [`removed consumers were created again: ${restored.slice(0, 5).join(', ')}`] : [];
  if (drift.length > 0) {
    const differing = `${counted(drift.length, 'setting')} ${drift.length === 1 ? 'differs' : 'differ'}: ${drift.slice(0, 3).join('; ')}`;
    return fail('streams', [differing, ...again].join('; '), repairOf(drift));
  }
  if (again.length > 0) return fail('streams', again.join(), 'find out who removed them');
  return ok('streams', 'all exist with the right settings');
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
