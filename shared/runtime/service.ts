import type { MetricSource } from './telemetry/metrics.ts';

/** A part of the system that runs: a router, a session host, a gateway. Created in its `main.ts`, stopped by whoever started it. */
export interface Service {
  readonly name: string;
  /** Why it cannot do its work now; empty: ready. */
  problems(): readonly string[];
  /** What is missing although it can do its work: told to operators, and no reason to wait. */
  warnings?(): readonly string[];
  /** Numbers for the metrics page, by name without prefix: `sessions_resident`, `commits_total`, … */
  metrics(): Readonly<Record<string, number>>;
  /** What is measured, or counted by kind, for the metrics page (`docs/operate/metrics.md`). */
  readonly series?: MetricSource;
  /** Finishes or hands over what is in hand and stops. Resolves within `deadlineMs`. */
  stop(deadlineMs: number): Promise<void>;
}
