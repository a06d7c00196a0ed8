import { type ChildProcess, spawn } from 'node:child_process';
import { backoffMs } from '../../../shared/kit/backoff.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { HealthProblem } from '../../../shared/kit/health-problem.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { labelled, type Metric } from '../../../shared/runtime/telemetry/metrics.ts';
import { metricsFrom } from './metrics-link.ts';

export interface HostsOptions {
  readonly count: number;
  /** The program, and the arguments that make it one session host. */
  readonly program: string;
  readonly programArguments: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the hosts' log lines go. */
  readonly logFile: number;
  readonly clock: Clock;
  readonly log: Logger;
}
export interface Hosts extends Service {
  /** Process ids of the running hosts. */
  pids(): readonly number[];
}

const restartPauses = { firstMs: 250, mostMs: 10_000 };
/** After this time a host counts as started; its next restart has the short pause again. */
const steadyMs = 30_000;

/**
 * Room for new objects in a host, MB. Node's own 16 are full several times a second under load, and each time what is in use is copied: with 64
 * a host collects a quarter as often, and takes up to 60 MB more while it works.
 */
const newObjects = '--max-semi-space-size=64';

/** One host: its process while it runs, and whether it has reported that it is ready. */
interface HostSlot {
  child: ChildProcess | null;
  ready: boolean;
}

/** Starts session hosts as child processes; one that ends is started again after a growing pause. */
export const startHosts = ({ count, program, programArguments, env, logFile, clock, log }: HostsOptions): Hosts => {
  const stopping = new AbortController();
  let restarts = 0;
  const slots: HostSlot[] = [...Array(count)].map(() => ({ child: null, ready: false }));

  /** Runs one host to its end. */
  const runHost = (slot: HostSlot): Promise<string> =>
    new Promise((resolve) => {
      // A separate process group: Ctrl-C reaches only this process, which stops the hosts in order. If this process dies, the channel closes
      // and the host ends.
      const child = spawn(process.execPath, [newObjects, program, ...programArguments], {
        detached: true,
        stdio: ['ignore', logFile, logFile, 'ipc'],
        env: { ...env },
      });
      slot.child = child;
      child.on('message', (message) => {
        slot.ready ||= message === 'ready';
      });
      const ended = (how: string): void => {
        slot.child = null;
        slot.ready = false;
        resolve(how);
      };
      child.once('error', (error) => ended(error.message));
      child.once('exit', (code, signal) => ended(signal === null ? `exit code ${code}` : `signal ${signal}`));
    });

  const keep = async (slot: HostSlot, number: number): Promise<void> => {
    for (let failures = 0; !stopping.signal.aborted; failures += 1) {
      const since = clock.monotonic();
      const how = await runHost(slot);
      if (stopping.signal.aborted) return;
      if (clock.monotonic() - since > steadyMs) failures = 0;
      const pauseMs = backoffMs(restartPauses, failures);
      restarts += 1;
      log.error({ host: number, how, pauseMs }, 'session host ended; restarting it');
      await clock.sleep(pauseMs, stopping.signal);
    }
  };
  const kept = Promise.all(slots.map((slot, index) => keep(slot, index + 1)));

  const signalAll = (name: NodeJS.Signals): void => {
    for (const { child } of slots) child?.kill(name);
  };
  /** The series of each host, labelled with its number, so that a restart resets only the counts of that host. */
  const allSeries = async (): Promise<Metric[]> => {
    const series = slots.map(async ({ child }, index) =>
      labelled(child ? await metricsFrom(child) : [], { host: String(index + 1) }),
    );
    return (await Promise.all(series)).flat();
  };
  return {
    name: 'hosts',
    series: { getMetricsAsJSON: allSeries },
    pids: () => slots.flatMap(({ child }) => child?.pid ?? []),
    problems: () =>
      slots.some(({ ready }) => ready) ? [] : [new HealthProblem('starting', `none of ${count} session hosts is ready`)],
    // The others do its work meanwhile.
    warnings: () => {
      const late = slots.flatMap(({ ready }, index) => (ready ? [] : [`session host ${index + 1} of ${count} is not ready`]));
      return late.length < count ? late : [];
    },
    metrics: () => ({ hosts_ready: slots.filter(({ ready }) => ready).length, host_restarts_total: restarts }),
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
