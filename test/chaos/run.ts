import type { Clock } from '../../shared/kit/clock.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import { randomOf } from '../sim/random.ts';
import { type SentCommand, startDriver } from './driver.ts';
import { evidenceOf, type FaultEvidence } from './evidence.ts';
import { type Ledger, openLedger, unfinished } from './ledger.ts';
import type { Fault, Scenario } from './scenarios.ts';
import { type ChaosSystem, type Setup, startSystem } from './system.ts';
import { type Aftermath, readAftermath, violationsOf } from './verdict.ts';
import { keysFor } from './workload.ts';

export interface RunOptions {
  readonly scenario: Scenario;
  readonly setup: Setup;
  readonly seed: number;
  readonly keys: number;
  readonly commandsPerSecond: number;
  readonly hosts: number;
  readonly maxAckPending: number;
  /** Load before the first fault and after the last one. */
  readonly beforeMs: number;
  readonly afterMs: number;
}

/** What a run showed. */
export interface RunReport {
  readonly seed: number;
  readonly setup: Setup;
  readonly tookMs: number;
  readonly commands: number;
  /** Publishes without an answer, commands the broker turned out to have already, and repeats on purpose. */
  readonly ambiguous: number;
  readonly duplicates: number;
  readonly resent: number;
  readonly commits: number;
  readonly turns: number;
  readonly resumedTurns: number;
  /** Nothing in the load fails by itself: these were given up after too many attempts. */
  readonly failedTurns: number;
  readonly snapshots: number;
  readonly faults: readonly FaultEvidence[];
  /** From the end of the load until everything accepted had ended. */
  readonly settledMs: number;
  /** Of the hosts that could still tell at the end. */
  readonly hostMetrics: Readonly<Record<string, number>>;
  readonly hostErrors: readonly string[];
  readonly violations: readonly string[];
  /** Why the run does not count; empty: each fault did what it is for. */
  readonly missed: readonly string[];
}

export interface RunResult {
  readonly report: RunReport;
  readonly aftermath: Aftermath;
  /** The last lines of each server's log. */
  readonly serverLogs: readonly (readonly string[])[];
}

/** I10. */
const settleMs = 60_000;
const lateMs = 240_000;
const lookMs = 100;

/** One run: a system of real processes, load, faults, healing, rest, and a look at everything that is left. */
export const run = async (options: RunOptions): Promise<RunResult> => {
  const clock = systemClock;
  const began = clock.monotonic();
  const random = randomOf(options.seed);
  const keys = keysFor(options.keys);
  const system = await startSystem(options);
  const faults: Fault[] = [];
  try {
    const ledger = openLedger(system.ports.events);
    const driver = startDriver({ ports: system.ports, keys, commandsPerSecond: options.commandsPerSecond, random });
    await clock.sleep(options.beforeMs + random.between(0, 2_000));
    await options.scenario.play({ system, clock, random, driver, ledger, faults });
    await clock.sleep(options.afterMs);
    await driver.stop();

    const loadEndedAt = clock.monotonic();
    const open = await untilAtRest(system, ledger, driver.commands, clock, settleMs);
    const settledMs = clock.monotonic() - loadEndedAt;
    // Late is bad; what is lost is worse, and only more time tells the two apart.
    if (open.length > 0) await untilAtRest(system, ledger, driver.commands, clock, lateMs);
    await endServices(system, clock);
    await ledger.close();
    const aftermath = await readAftermath(system, keys, { commands: driver.commands, followed: ledger.commits });
    const violations = [...open.map((what) => `I10 after ${settleMs / 1_000} s: ${what}`), ...violationsOf(aftermath)];
    const evidence = evidenceOf(faults, aftermath.commits, (key) => system.ports.commands.partitionOf(key));
    const report = reportOf(options, system, aftermath, evidence, violations, settledMs, clock.monotonic() - began);
    return { report, aftermath, serverLogs: system.nodes.map((node) => node.log()) };
  } finally {
    await system.close();
  }
};

/** Waits until everything accepted has ended; resolves with what has not. */
const untilAtRest = async (
  { ports }: ChaosSystem,
  ledger: Ledger,
  commands: readonly SentCommand[],
  clock: Clock,
  patienceMs: number,
): Promise<readonly string[]> => {
  const giveUpAt = clock.monotonic() + patienceMs;
  for (;;) {
    const inLog = unfinished(ledger, commands);
    const open = inLog.length > 0 || (await ports.commands.lag().catch(() => 1)) === 0 ? inLog : ['commands in the queue'];
    if (open.length === 0 || clock.monotonic() > giveUpAt) return open;
    await clock.sleep(lookMs);
  }
};

/** Ends the hosts, which then write snapshots and tell their metrics, and the checkpoint once the index is up to date. */
const endServices = async ({ hosts, checkpoint, ports }: ChaosSystem, clock: Clock): Promise<void> => {
  await Promise.all(hosts.map((host) => host.stop()));
  const { lastSeq } = await ports.events.info();
  const giveUpAt = clock.monotonic() + settleMs;
  while ((await ports.index.position().catch(() => 0)) < lastSeq && clock.monotonic() < giveUpAt) await clock.sleep(lookMs);
  await checkpoint.stop();
};

const reportOf = (
  { seed, setup }: RunOptions,
  { hosts }: ChaosSystem,
  { commands, commits, snapshots }: Aftermath,
  faults: readonly FaultEvidence[],
  violations: readonly string[],
  settledMs: number,
  tookMs: number,
): RunReport => {
  const events = commits.flatMap((commit) => commit.events);
  const hostMetrics: Record<string, number> = {};
  for (const { metrics } of hosts)
    for (const [name, value] of Object.entries(metrics)) hostMetrics[name] = (hostMetrics[name] ?? 0) + value;
  return {
    seed,
    setup,
    tookMs,
    commands: commands.length,
    ambiguous: commands.reduce((sum, { ambiguous }) => sum + ambiguous, 0),
    duplicates: commands.filter(({ duplicate }) => duplicate).length,
    resent: commands.reduce((sum, { resent }) => sum + resent, 0),
    commits: commits.length,
    turns: events.filter(({ type }) => type === 'turn_started').length,
    resumedTurns: events.filter(({ type }) => type === 'turn_resumed').length,
    failedTurns: events.filter(({ type }) => type === 'turn_failed').length,
    snapshots: snapshots.length,
    faults,
    settledMs,
    hostMetrics,
    hostErrors: hosts.flatMap(({ errors }) => errors),
    violations,
    missed: faults.flatMap(({ fault, missed }) => (missed === null ? [] : [`${fault.kind} (${fault.target}): ${missed}`])),
  };
};
