import type { Clock } from '../kit/clock.ts';
import { errorMessage } from '../kit/errors.ts';
import type { Logger } from '../kit/log.ts';
import type { Leases } from '../ports/leases.ts';

/** Milliseconds before work that failed is begun again. */
const againMs = 1_000;

/** What the work needs to know of its time: write only while `held` lasts, take on new things only until `stopping`. */
export interface Tenure {
  /** Aborts when the lease is lost: somebody else may be at work. */
  readonly held: AbortSignal;
  /** Aborts when the lease is lost or the service is asked to stop: finish what is in hand and return. */
  readonly stopping: AbortSignal;
  /** To be called when the work has found everything in order. */
  healthy(): void;
}

export interface LeasedWorkOptions {
  readonly name: string;
  readonly member: string;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly log: Logger;
  /** Begun again after a pause when it throws; the error's message is a problem until `healthy` is called. */
  work(tenure: Tenure): Promise<void>;
}

export interface LeasedWork {
  /** True while this member has the lease. */
  active(): boolean;
  problems(): readonly string[];
  /** Lets the work finish what it has in hand and gives the lease up. */
  stop(deadlineMs: number): Promise<void>;
}

/** Runs work that one process at a time should do: waits for the lease, works, begins again after failures, until stopped. */
export const startLeasedWork = ({ name, member, leases, clock, log, work }: LeasedWorkOptions): LeasedWork => {
  const stopping = new AbortController();
  const released = new AbortController();
  let problem: string | null = null;
  let active = false;

  const failed = (error: unknown) => {
    const reason = errorMessage(error);
    if (reason !== problem) log.error({ err: error, lease: name }, `${name} stands still`);
    problem = reason;
  };
  const healthy = () => {
    if (problem !== null) log.info({ lease: name }, `${name} works again`);
    problem = null;
  };

  const whileHeld = async (held: AbortSignal): Promise<void> => {
    active = true;
    const until = AbortSignal.any([held, stopping.signal]);
    while (!until.aborted) {
      await work({ held, stopping: until, healthy }).catch(failed);
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
  const done = run();

  return {
    active: () => active,
    problems: () => (problem === null ? [] : [`${name}: ${problem}`]),
    stop: async (deadlineMs) => {
      stopping.abort();
      if (!active) released.abort();
      const graceMs = deadlineMs * 0.8;
      await Promise.race([done, clock.sleep(graceMs)]);
      released.abort();
      await Promise.race([done, clock.sleep(deadlineMs - graceMs)]);
    },
  };
};
