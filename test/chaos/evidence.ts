import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import { begunBy, endedBy } from './ledger.ts';
import type { Fault } from './scenarios.ts';

/** What the log shows of a fault. Partitions and turns are those of the process it hit; of all, where it hit a server. */
export interface FaultEvidence {
  readonly fault: Fault;
  readonly partitions: number;
  /** Turns that were running or waiting there at that moment, and those of them that went on as another attempt. */
  readonly openTurns: number;
  readonly resumedTurns: number;
  /** Per partition: from the fault to the next commit, ms, least first. */
  readonly takeoverMs: readonly number[];
  /** Longest time without a commit on one of the partitions, and on all of them, ms. */
  readonly partitionPauseMs: number;
  readonly pauseMs: number;
  /** Why the fault did not show; such a run does not count. */
  readonly missed: string | null;
}

/** What a process sent before it was killed may still arrive. */
const stragglersMs = 100;
const windowMs = 15_000;
/** Who signed for a partition so long ago still has it. */
const recentMs = 2_000;
/** With some 200 commands a second on 64 partitions one is rarely without a commit for so long. */
const noticeableMs = 1_000;

export const evidenceOf = (
  faults: readonly Fault[],
  commits: readonly RecordedCommit[],
  partitionOf: (key: string) => number,
): FaultEvidence[] => faults.map((fault) => evidence(fault, commits, partitionOf));

/** Turns that run or wait on a host at a time, as far as the log tells. */
export const turnsOn = (
  host: Pick<Fault, 'pid' | 'at'>,
  commits: readonly RecordedCommit[],
  partitionOf: (key: string) => number,
): ReadonlySet<string> => {
  const partition = ({ key }: RecordedCommit): number => partitionOf(key);
  const owned = partitionsOf(host, commits, partition);
  return openAt(
    host.at,
    commits.filter((commit) => owned.has(partition(commit))),
  );
};

const evidence = (fault: Fault, commits: readonly RecordedCommit[], partitionOf: (key: string) => number): FaultEvidence => {
  const onHost = fault.kind.startsWith('host');
  const partition = ({ key }: RecordedCommit): number => partitionOf(key);
  const owned = onHost ? partitionsOf(fault, commits, partition) : new Set(commits.map(partition));
  const concerned = commits.filter((commit) => owned.has(partition(commit)));
  const open = openAt(fault.at, concerned);
  const resumed = concerned
    .filter(({ recordedAt }) => recordedAt > fault.at)
    .flatMap(({ events }) =>
      events.flatMap((event) => (event.type === 'turn_resumed' && open.has(event.turn.id) ? [event] : [])),
    );
  const takeoverMs = [...owned]
    .flatMap((number) => {
      const next = concerned.find((commit) => partition(commit) === number && commit.recordedAt > fault.at + stragglersMs);
      return next === undefined ? [] : [next.recordedAt - fault.at];
    })
    .sort((one, other) => one - other);
  const pauses = [...owned].map((number) =>
    longestPause(
      fault.at,
      concerned.filter((commit) => partition(commit) === number),
    ),
  );
  const found = {
    fault,
    partitions: owned.size,
    openTurns: open.size,
    resumedTurns: new Set(resumed.map(({ turn }) => turn.id)).size,
    takeoverMs,
    partitionPauseMs: Math.max(0, ...pauses),
    pauseMs: longestPause(fault.at, concerned),
  };
  return { ...found, missed: fault.missed ?? missedBy(found) };
};

const missedBy = ({ fault, ...found }: Omit<FaultEvidence, 'missed'>): string | null => {
  const first = found.takeoverMs[0];
  if (found.partitions === 0 || first === undefined) return 'no partition of the victim is known';
  if (fault.kind === 'host killed' && found.openTurns === 0) return 'no turn was under way on the killed host';
  if (fault.kind === 'host killed' && found.resumedTurns === 0) return 'no turn of the killed host was resumed';
  if (fault.kind === 'host paused' && fault.at + first > fault.endedAt) return 'nobody took over while the host stood still';
  if (fault.kind.startsWith('server') && found.partitionPauseMs < noticeableMs) return 'no partition paused';
  return null;
};

/** The partitions whose turns this process carried on just before, by the name it signs its own commands with. */
const partitionsOf = (
  { pid, at }: Pick<Fault, 'pid' | 'at'>,
  commits: readonly RecordedCommit[],
  partition: (commit: RecordedCommit) => number,
): Set<number> => {
  const owner = new Map<number, string>();
  for (const commit of commits)
    if (commit.recordedAt > at - recentMs && commit.recordedAt <= at && commit.actor.startsWith('host:'))
      owner.set(partition(commit), commit.actor);
  return new Set([...owner].filter(([, actor]) => actor.startsWith(`host:session-${pid}-`)).map(([number]) => number));
};

const openAt = (at: number, commits: readonly RecordedCommit[]): Set<string> => {
  const open = new Set<string>();
  for (const { recordedAt, events } of commits) {
    if (recordedAt > at) break;
    for (const event of events) {
      for (const id of begunBy(event)) open.add(id);
      for (const id of endedBy(event)) open.delete(id);
    }
  }
  return open;
};

/** Longest time between two of these commits around and after the fault. */
const longestPause = (at: number, commits: readonly RecordedCommit[]): number => {
  const times = commits.map(({ recordedAt }) => recordedAt);
  let longest = 0;
  times.forEach((time, index) => {
    const before = times[index - 1] ?? time;
    if (time > at && before < at + windowMs) longest = Math.max(longest, time - before);
  });
  return longest;
};
