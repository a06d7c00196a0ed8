import type { Clock } from '../kit/clock.ts';
import { HealthProblem } from '../kit/health-problem.ts';
import type { Logger } from '../kit/log.ts';
import type { Leases } from '../ports/leases.ts';

/** Milliseconds before failed work is restarted. */
const againMs = 1_000;
/** Milliseconds that work must go on before its `healthy` is believed, if the last try failed after it had called that. */
const steadyMs = 5_000;

/** The lifetime of the work: write only until `held` aborts, start new things only until `stopping` aborts. */
export interface Tenure {
  /** Aborts when the lease is lost: another process may be at work. */
  readonly held: AbortSignal;
  /** Aborts when the lease is lost or the service stops: finish what is in progress and return. */
  readonly stopping: AbortSignal;
  /** Call this when the work has found everything in order. */
  healthy(): void;
}

export interface LeasedWorkOptions {
  readonly name: string;
  readonly member: string;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly log: Logger;
  /** Restarted after a pause when it rejects; the error's message is a problem until `healthy` is called and believed. */
  work(tenure: Tenure): Promise<void>;
}

export interface LeasedWork {
  /** True while this member holds the lease. */
  active(): boolean;
  problems(): readonly HealthProblem[];
  /** Lets the work finish what is in progress, then releases the lease. */
  stop(deadlineMs: number): Promise<void>;
}

/**
 * Runs work that only one process should do at a time: waits for the lease, works, and restarts after failures, until stopped.
 */
export const startLeasedWork = ({ name, member, leases, clock, log, work }: LeasedWorkOptions): LeasedWork => {
  const stopping = new AbortController();
  const released = new AbortController();
  let problem: HealthProblem | null = null;
  let active = false;
  /** Whether the last try failed after it had called `healthy`. */
  let wasWrong = false;

  const failed = (error: unknown) => {
    const found = HealthProblem.ofWork(name, error);
    if (found.message !== problem?.message) log.error({ err: error, lease: name }, `${name} has stalled`);
    problem = found;
  };
  const solved = () => {
    if (problem !== null) log.info({ lease: name }, `${name} is working again`);
    [problem, wasWrong] = [null, false];
  };
  const attempt = async (tenure: Omit<Tenure, 'healthy'>): Promise<void> => {
    const ended = new AbortController();
    let isHealthy = false;
    const healthy = () => {
      if (!wasWrong) solved();
      else if (!isHealthy) void clock.sleep(steadyMs, ended.signal).then(() => ended.signal.aborted || solved());
      isHealthy = true;
    };
    try {
      await work({ ...tenure, healthy });
    } catch (error) {
      wasWrong = isHealthy;
      failed(error);
    } finally {
      ended.abort();
    }
  };

  const whileHeld = async (held: AbortSignal): Promise<void> => {
    active = true;
    const until = AbortSignal.any([held, stopping.signal]);
    while (!until.aborted) {
      await attempt({ held, stopping: until });
      await clock.sleep(againMs, until);
    }
    active = false;
    if (stopping.signal.aborted) released.abort();
  };

  const run = async (): Promise<void> => {
    while (!released.signal.aborted) {
      await leases.hold(name, member, released.signal, whileHeld).catch(failed);
      await clock.sleep(againMs, released.signal);
    }
  };
  const ended = new AbortController();
  void run().then(() => ended.abort());

  return {
    active: () => active,
    problems: () => (problem === null ? [] : [problem]),
    stop: async (deadlineMs) => {
      stopping.abort();
      if (!active) released.abort();
      const graceMs = deadlineMs * 0.8;
      await clock.sleep(graceMs, ended.signal);
      released.abort();
      await clock.sleep(deadlineMs - graceMs, ended.signal);
    },
  };
};
