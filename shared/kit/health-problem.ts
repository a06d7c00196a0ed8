import { errorMessage, hasCode } from './errors.ts';

/**
 * Why a process cannot do its work, as a code with the usual fix and the calls that it stops: all of them, those that change
 * something, or none. Codes are part of the API and of `/readyz`: a code never changes its meaning (docs/operate/operations.md).
 */
const table = {
  starting: ['all', 'wait a few seconds; if it stays, see the log of the process'],
  stopping: ['none', 'nothing: the process finishes what it has in hand and ends'],
  broker_away: ['all', 'start the broker, or correct nats.url and its credentials; Natter then goes on by itself'],
  broker_unusable: ['all', 'see the message and the log of the broker'],
  permission_denied: ['none', 'give this user the right on the broker that the message names'],
  streams_missing: [
    'all',
    'bring the old store back, or run "natter nats provision" if there was none; the log must not start anew unnoticed',
  ],
  leaders_missing: [
    'changes',
    'start the servers of the broker that are away; if all run, see "A stream without a leader" in docs/operate/operations.md',
  ],
  consumers_missing: ['changes', '"natter up" makes them again by itself; without it run "natter nats provision"'],
  stream_changed: ['changes', 'run "natter nats provision", which sets what can be set safely and names the rest'],
  log_went_back: [
    'all',
    'put back the store with the longest log; if there is none, run "natter log accept" (docs/operate/operations.md)',
  ],
  queue_went_back: [
    'changes',
    'put back the newest copy of the stream; if there is none, run "natter log accept" (docs/operate/operations.md)',
  ],
  storage_full: [
    'changes',
    'free space on the disk of the broker, or raise its limit; "natter up" then restarts its broker, restart one of your own',
  ],
  write_probe_failed: [
    'changes',
    'look for "write error" in the log of the broker: free or repair its disk, then restart the broker',
  ],
  work_stalled: ['none', 'see the message and the log of the process; it tries again by itself'],
} as const satisfies Record<string, readonly [stops: 'all' | 'changes' | 'none', fix: string]>;

export type HealthCode = keyof typeof table;
export const healthCodes = Object.keys(table) as readonly HealthCode[];

/** One reason why a process is not ready. As text it is its message. */
export class HealthProblem {
  readonly code: HealthCode;
  readonly message: string;
  readonly fix: string;

  constructor(code: HealthCode, message: string, fix: string = table[code][1]) {
    this.code = code;
    this.message = message;
    this.fix = fix;
  }

  /** Work that failed and is tried again. That a reader finds the log shorter than before is a problem of the log (I13). */
  static ofWork(name: string, error: unknown): HealthProblem {
    return new HealthProblem(
      hasCode(error, 'log_regressed') ? 'log_went_back' : 'work_stalled',
      `${name}: ${errorMessage(error)}`,
    );
  }

  /** True if it stops a call, or only a call that changes something. */
  stops(call: { readonly changes: boolean }): boolean {
    const [stopped] = table[this.code];
    return stopped === 'all' || (stopped === 'changes' && call.changes);
  }

  toString(): string {
    return this.message;
  }
}

/** The body of `/readyz`, at the gateway and at every other service. */
export interface Readiness {
  readonly status: 'ready' | 'unavailable';
  /** The messages alone. */
  readonly problems: readonly string[];
  readonly details: readonly HealthProblem[];
}

/** Ready when there is no problem; two with the same message count once. */
export const readinessOf = (problems: readonly HealthProblem[]): Readiness => {
  const details = [...new Map(problems.map((problem) => [problem.message, problem])).values()];
  return { status: details.length === 0 ? 'ready' : 'unavailable', problems: details.map(String), details };
};
