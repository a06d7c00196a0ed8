import { healthTimes } from '../../../../shared/adapters/kv/presence.ts';
import { reportedWaitingPlaces } from '../../../../shared/domain/values/delivery.ts';
import { type Clock, untilBeat } from '../../../../shared/kit/clock.ts';
import { errorMessage } from '../../../../shared/kit/errors.ts';
import { readinessOf } from '../../../../shared/kit/health-problem.ts';
import type { Logger } from '../../../../shared/kit/log.ts';
import type { HealthReport, Presence } from '../../../../shared/ports/presence.ts';
import type { Config } from '../../../../shared/runtime/config/load.ts';
import { sectionDigests } from '../../../../shared/runtime/config/origins.ts';
import type { Current } from '../../../../shared/runtime/config/reload.ts';
import type { Service } from '../../../../shared/runtime/service.ts';

type Watched = Pick<Service, 'name' | 'problems' | 'warnings'>;

const checkMs = 1_000;

const problemsOf = (services: readonly Watched[]): string[] =>
  services.flatMap(({ name, problems }) => problems().map(({ message }) => `${name}: ${message}`));
const warningsOf = (services: readonly Watched[]): string[] =>
  services.flatMap(({ name, warnings = () => [] }) => warnings().map((warning) => `${name}: ${warning}`));

/** Logs problems and warnings when they change, and calls `changed`, until the signal aborts. */
export const watchProblems = async (
  services: readonly Watched[],
  {
    clock,
    log,
    signal,
    changed,
  }: { clock: Clock; log: Logger; signal: AbortSignal; changed?: (problems: readonly string[]) => void },
): Promise<void> => {
  let before = '';
  while (!signal.aborted) {
    const problems = [...problemsOf(services), ...warningsOf(services)];
    const now = problems.join('; ');
    if (now !== before) {
      if (problems.length > 0) log.warn({ problems }, 'problems');
      else log.info('problems resolved');
      changed?.(problems);
    }
    before = now;
    await clock.sleep(untilBeat(clock, checkMs), signal);
  }
};

/** Waits until no service has a problem. Resolves with the problems that are left after `patienceMs`; empty if all services are ready. */
export const untilReady = async (
  services: readonly Watched[],
  { clock, patienceMs, signal }: { clock: Clock; patienceMs: number; signal: AbortSignal },
): Promise<readonly string[]> => {
  const giveUpAt = clock.monotonic() + patienceMs;
  for (;;) {
    const problems = problemsOf(services);
    if (problems.length === 0 || signal.aborted || clock.monotonic() > giveUpAt) return problems;
    await clock.sleep(20, signal);
  }
};

type Reporting = Pick<Service, 'name' | 'member' | 'problems' | 'warnings' | 'metrics' | 'waiting' | 'held'>;
/** Milliseconds between two checks for changes, and for leaving. */
const changeMs = 500;
const leaveMs = 500;
const longest = { lines: 100, characters: 1_000 };
const shortened = (lines: readonly string[]): string[] =>
  lines.slice(0, longest.lines).map((line) => line.slice(0, longest.characters));

const troubleOf = ({ problems, warnings = () => [] }: Reporting): Pick<Report, 'problems' | 'warnings'> => ({
  problems: shortened(readinessOf(problems()).problems),
  warnings: shortened(warnings()),
});
const reportOf = (service: Reporting, trouble: Pick<Report, 'problems' | 'warnings'>): Report => {
  const { name, member, metrics, waiting = () => [], held } = service;
  const waits = waiting().slice(0, reportedWaitingPlaces);
  return {
    ...{ name, ...(member !== undefined && { member }), ...trouble },
    metrics: Object.fromEntries(Object.entries(metrics()).filter(([, value]) => Number.isFinite(value))),
    ...(waits.length > 0 && { waiting: waits }),
    ...(held && { held: held() }),
  };
};
type Report = HealthReport['services'][number];

/**
 * Reports this process's health to the others, every three seconds and when its problems or partitions change, until the signal aborts; then
 * reports that it leaves. Failures are only logged at debug level: a lost broker is reported elsewhere.
 */
export const reportHealth = async (
  services: () => readonly Reporting[],
  options: Pick<HealthReport, 'process' | 'version'> & {
    presence: Presence;
    clock: Clock;
    log: Logger;
    signal: AbortSignal;
    config: Current<Config>;
  },
): Promise<void> => {
  const { process, version, presence, clock, log, signal, config } = options;
  const failed = (error: unknown): void => log.debug({ problem: errorMessage(error) }, 'health report not sent');
  const startedAt = clock.now();
  let [reportedAt, before] = [Number.NEGATIVE_INFINITY, ''];
  while (!signal.aborted) {
    const all = services().map((service) => [service, troubleOf(service)] as const);
    const wrong = JSON.stringify(all.map(([{ held }, trouble]) => [trouble, held?.()]));
    if (wrong !== before || clock.monotonic() - reportedAt >= healthTimes.tellMs) {
      [reportedAt, before] = [clock.monotonic(), wrong];
      const own = {
        services: all.map(([service, trouble]) => reportOf(service, trouble)),
        config: sectionDigests(config.current()),
      };
      const report = { v: 1, process, version, startedAt, at: clock.now(), ...own } as const;
      // Not awaited: a broker that does not answer must not delay the end.
      void presence.tell(report).catch(failed);
    }
    await clock.sleep(untilBeat(clock, changeMs), signal);
  }
  const left = new AbortController();
  const leaving = presence.leave(process).catch(failed);
  await Promise.race([leaving, clock.sleep(leaveMs, left.signal)]);
  left.abort();
};
