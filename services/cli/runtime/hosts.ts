import { type ChildProcess, spawn } from 'node:child_process';
import { backoffMs } from '../../../shared/kit/backoff.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { labelled, type Metric } from '../../../shared/runtime/telemetry/metrics.ts';
import { metricsFrom } from './metrics-link.ts';

export interface HostsOptions {
  readonly count: number;
  /** The program and what it is called with to be one session host. */
  readonly program: string;
  readonly programArguments: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the hosts' log lines go. */
  readonly logFile: number;
  readonly clock: Clock;
  readonly log: Logger;
}
export interface Hosts extends Service {
  /** Process ids of the hosts that run now. */
  pids(): readonly number[];
}

const restartPauses = { firstMs: 250, mostMs: 10_000 };
/** A host that ran for so long has not failed at its start. */
const steadyMs = 30_000;

/** One child: alive or not, and whether it said that it is ready. */
interface Seat {
  child: ChildProcess | null;
  ready: boolean;
}

/** Session hosts as processes of their own; one that dies is started again after a growing pause. */
export const startHosts = ({ count, program, programArguments, env, logFile, clock, log }: HostsOptions): Hosts => {
  const stopping = new AbortController();
  let restarts = 0;
  const seats: Seat[] = [...Array(count)].map(() => ({ child: null, ready: false }));

  /** Runs one host to its end. */
  const runHost = (seat: Seat): Promise<string> =>
    new Promise((resolve) => {
      // A process group of its own: Ctrl-C reaches us alone, and the order of stopping is ours. Without us the channel closes, and it ends.
      const child = spawn(process.execPath, [program, ...programArguments], {
        detached: true,
        stdio: ['ignore', logFile, logFile, 'ipc'],
        env: { ...env },
      });
      seat.child = child;
      child.on('message', (message) => {
        seat.ready ||= message === 'ready';
      });
      const ended = (how: string): void => {
        seat.child = null;
        seat.ready = false;
        resolve(how);
      };
      child.once('error', (error) => ended(error.message));
      child.once('exit', (code, signal) => ended(signal === null ? `exit code ${code}` : `signal ${signal}`));
    });

  const keep = async (seat: Seat, number: number): Promise<void> => {
    for (let failures = 0; !stopping.signal.aborted; failures += 1) {
      const since = clock.monotonic();
      const how = await runHost(seat);
      if (stopping.signal.aborted) return;
      if (clock.monotonic() - since > steadyMs) failures = 0;
      const pauseMs = backoffMs(restartPauses, failures);
      restarts += 1;
      log.error({ host: number, how, pauseMs }, 'a session host ended; it is started again');
      await clock.sleep(pauseMs, stopping.signal);
    }
  };
  const kept = Promise.all(seats.map((seat, index) => keep(seat, index + 1)));

  const signalAll = (name: NodeJS.Signals): void => {
    for (const { child } of seats) child?.kill(name);
  };
  /** Each host's own series, with its number: one that starts again begins its counts again, and only its own. */
  const series = async (): Promise<Metric[]> => {
    const told = seats.map(async ({ child }, index) =>
      labelled(child ? await metricsFrom(child) : [], { host: String(index + 1) }),
    );
    return (await Promise.all(told)).flat();
  };
  return {
    name: 'hosts',
    series: { getMetricsAsJSON: series },
    pids: () => seats.flatMap(({ child }) => child?.pid ?? []),
    problems: () => seats.flatMap(({ ready }, index) => (ready ? [] : [`session host ${index + 1} of ${count} is not ready`])),
    metrics: () => ({ hosts_ready: seats.filter(({ ready }) => ready).length, host_restarts_total: restarts }),
    stop: async (deadlineMs) => {
      stopping.abort();
      signalAll('SIGTERM');
      const done = new AbortController();
      void clock.sleep(deadlineMs, done.signal).then(() => {
        if (!done.signal.aborted) signalAll('SIGKILL');
      });
      await kept;
      done.abort();
    },
  };
};
