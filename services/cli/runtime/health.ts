import type { Logger } from '../../../shared/kit/log.ts';
import type { Service } from '../../../shared/kit/service.ts';
import type { Clock } from '../../../shared/ports.ts';

type Watched = Pick<Service, 'name' | 'problems' | 'warnings'>;

const lookMs = 1_000;

const problemsOf = (services: readonly Pick<Watched, 'name' | 'problems'>[]): string[] =>
  services.flatMap(({ name, problems }) => problems().map((problem) => `${name}: ${problem}`));
const warningsOf = (services: readonly Watched[]): string[] =>
  problemsOf(services.map(({ name, warnings = () => [] }) => ({ name, problems: warnings })));

/** Logs problems and warnings when they change, and tells `changed`, until the signal aborts. */
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
      if (problems.length > 0) log.warn({ problems }, 'not well');
      else log.info('well again');
      changed?.(problems);
    }
    before = now;
    await clock.sleep(lookMs, signal);
  }
};

/** Waits until nothing is wrong with any of the services. Resolves with what still is after `patienceMs`; empty: all are ready. */
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
