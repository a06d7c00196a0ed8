import type { FaultEvidence } from './evidence.ts';
import type { RunReport } from './run.ts';

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const middle = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;

const faultLine = (evidence: FaultEvidence): string => {
  const { fault, partitions, openTurns, resumedTurns, takeoverMs, pauseMs, partitionPauseMs, missed } = evidence;
  const what = `    ${fault.kind} (${fault.target}) for ${seconds(fault.endedAt - fault.at)}`;
  const next = `${partitions} partitions go on after ${[takeoverMs[0] ?? Number.NaN, middle(takeoverMs), takeoverMs.at(-1) ?? Number.NaN].map(seconds).join(' / ')}`;
  const pauses = `longest pause of one ${seconds(partitionPauseMs)}, of all ${seconds(pauseMs)}`;
  const turns = `${resumedTurns} of ${openTurns} open turns resumed`;
  return [`${what}: ${next}; ${pauses}; ${turns}`, ...(missed === null ? [] : [`      DOES NOT COUNT: ${missed}`])].join('\n');
};

/** One run, in a few lines. */
export const lineOf = (report: RunReport): string => {
  const { commits_fenced_total: fenced = 0, commands_duplicate_total: repeats = 0 } = report.hostMetrics;
  const head = [
    `  seed ${report.seed}: ${report.commands} commands (${report.ambiguous} ambiguous, ${report.duplicates} stored before, ${report.resent} sent again)`,
    `${report.commits} commits, ${report.turns} turns (${report.resumedTurns} resumed, ${report.failedTurns} given up)`,
    `hosts saw ${fenced} fenced, ${repeats} repeats`,
    `at rest after ${seconds(report.settledMs)}`,
    `${report.snapshots} snapshots`,
  ].join('; ');
  return [
    head,
    ...report.faults.map(faultLine),
    ...[...new Set(report.hostErrors)].slice(0, 5).map((error) => `    a host says: ${error}`),
    ...report.violations.slice(0, 20).map((violation) => `    VIOLATION: ${violation}`),
    ...(report.violations.length > 20 ? [`    … and ${report.violations.length - 20} more`] : []),
  ].join('\n');
};

/** All runs of a scenario together, as the table in `docs/develop/chaos.md` has them. */
export const totalsOf = (reports: readonly RunReport[]): string => {
  const sum = (of: (report: RunReport) => number): number => reports.reduce((total, report) => total + of(report), 0);
  const counted = reports.filter(({ missed }) => missed.length === 0);
  const takeovers = reports
    .flatMap(({ faults }) => faults.flatMap(({ fault, takeoverMs }) => (fault.kind.startsWith('host') ? takeoverMs : [])))
    .sort((one, other) => one - other);
  const pauses = reports.flatMap(({ faults }) => faults.map(({ pauseMs }) => pauseMs)).sort((one, other) => one - other);
  return [
    `  = ${counted.length} of ${reports.length} runs count, ${sum(({ faults }) => faults.length)} faults`,
    `${sum(({ commands }) => commands)} commands, ${sum(({ ambiguous }) => ambiguous)} ambiguous, ${sum(({ resumedTurns }) => resumedTurns)} turns resumed`,
    `${sum(({ hostMetrics }) => hostMetrics.commits_fenced_total ?? 0)} writes fenced`,
    ...(takeovers.length === 0 ? [] : [`takeover ${seconds(middle(takeovers))} (at most ${seconds(takeovers.at(-1) ?? 0)})`]),
    ...(pauses.length === 0 ? [] : [`pause of all ${seconds(middle(pauses))} (at most ${seconds(pauses.at(-1) ?? 0)})`]),
    `at rest after at most ${seconds(Math.max(0, ...reports.map(({ settledMs }) => settledMs)))}`,
    `${sum(({ violations }) => violations.length)} violations`,
  ].join('; ');
};
