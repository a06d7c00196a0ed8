import { initialTransition } from 'xstate';
import { assert } from '../../../kit/assert.ts';
import { limits } from '../../../kit/limits.ts';
import { type ForkBase, skipsOf } from '../../values/fork-base.ts';
import { type Arrivals, arrivalsAfter, arrivalsHandedOn, noArrivals } from '../arrivals.ts';
import { type ChainLink, chainBreak, chainStart, linkAfter, startsAnew } from '../chain.ts';
import type { SessionContext } from '../context.ts';
import { type Covered, coveredAfter } from '../covered.ts';
import type { RecordedCommit } from '../envelope.ts';
import { isInteraction, type SessionEvent } from '../events.ts';
import { rememberedIds } from '../repeats/id-memory.ts';
import { type MachineSnapshot, type SessionStatus, sessionMachine } from './machine.ts';
import { stepOf } from './steps.ts';

/** The one fold: replay and snapshot + tail come from here, and so does the check of events before they are written. It runs no effect. */

/**
 * What a session's state owes to its commits: their places in the log, their revisions and their times. The machine cannot hold these facts: it
 * checks events before they are written, when they have no sequence yet.
 */
export interface Position extends ChainLink, Arrivals {
  /** Stream sequence of the last commit folded; 0 before the first. */
  readonly seq: number;
  readonly at: number;
  /** Time of the last commit with a message, or of the session's start: expiry is measured from it (A4/45, B11). */
  readonly interactedAt: number;
  /** `rev` of the commit that started this generation. */
  readonly startedRev: number;
  /** Last command applied from the command stream: how a repeat is known (I2). */
  readonly command: { readonly seq: number; readonly incarnation: number };
  /** Sequences of this generation's last commits with messages, oldest first, bounded. */
  readonly window: readonly number[];
  /** Sequence from which the model's context is read: the start of this generation, or what its last summary kept. */
  readonly contextSeq: number;
  /** Ranges that the model's context leaves out: the commits between a fork and its base, oldest first (B21). */
  readonly skips: ForkBase['skips'];
  readonly covered: Covered;
  /** Sequence of the commit that started this generation. */
  readonly startedSeq: number;
}

/** A session's state, folded from its log. */
export interface SessionState {
  readonly machine: MachineSnapshot;
  readonly position: Position;
}

/** The state of a session without any commit. */
export const initialState: SessionState = {
  machine: initialTransition(sessionMachine)[0],
  position: {
    seq: 0,
    ...chainStart,
    at: 0,
    interactedAt: 0,
    startedRev: 0,
    command: { seq: 0, incarnation: 0 },
    ...noArrivals,
    window: [],
    contextSeq: 0,
    skips: [],
    covered: { rev: 0, seq: 0, gaps: [] },
    startedSeq: 0,
  },
};

/** The state after one event. Throws `AssertionError` if the machine has no transition for it: ignoring it would hide a gap. */
export const evolve = (before: MachineSnapshot, event: SessionEvent): MachineSnapshot => {
  const after = stepOf(before, event);
  assert(after !== before, `no transition for ${event.type} in ${String(before.value)}`);
  return after;
};

const bounded = <T>(items: readonly T[], more: readonly T[], limit: number): readonly T[] =>
  more.length === 0 ? items : [...items, ...more].slice(-limit);

type Context = Pick<Position, 'contextSeq' | 'skips'>;

/** The fork base of a commit that forks (B21). */
export const forkBaseOf = ({ events }: Pick<RecordedCommit, 'events'>): ForkBase | undefined =>
  events.find((event) => event.type === 'session_reset')?.forkedFrom;

/** Whether a reader of a conversation that has read up to `rev` may read this commit next. */
export const mayFollow = (commit: RecordedCommit, rev: number): boolean =>
  commit.rev === rev + 1 || (startsAnew(commit) && commit.rev > rev) || forkBaseOf(commit)?.rev === rev;

/** Where the conversation is read. Messages of queued turns are older than the generation in which they are answered. */
const contextAfter = (before: Context, { seq, events }: RecordedCommit, starts: boolean): Context => {
  const reset = events.find((event) => event.type === 'session_reset');
  if (reset?.forkedFrom) {
    const { contextSeq } = reset.forkedFrom;
    return { contextSeq, skips: skipsOf(reset.forkedFrom, seq) };
  }
  if (starts && !reset?.keepsQueue) return { contextSeq: seq, skips: [] };
  const kept = events.find((event) => event.type === 'context_compacted')?.keptFromSeq;
  if (kept === undefined) return { contextSeq: before.contextSeq, skips: before.skips };
  return { contextSeq: kept, skips: before.skips.filter(({ until }) => until > kept) };
};

const startsGeneration = ({ events }: RecordedCommit): boolean =>
  events.some(({ type }) => type === 'session_reset' || type === 'session_opened');

/**
 * Moves the position past a commit. Throws `AssertionError` on a break of the chain (I3) or a sequence that does not grow. A commit
 * that starts anew starts from nothing: the position after it is the same whether or not the history before it can be read.
 */
export const advance = (known: Position, commit: RecordedCommit): Position => {
  const broken = chainBreak(known, commit);
  assert(broken === null, `rev ${commit.rev} follows rev ${known.rev} (I3): ${broken}`);
  assert(commit.seq > known.seq, `sequence ${commit.seq} follows ${known.seq}`);
  const before = startsAnew(commit) ? { ...initialState.position, ...arrivalsHandedOn(commit) } : known;
  const { seq, incarnation } = commit.command;
  const starts = startsGeneration(commit);
  // The message of a queued turn is older than its generation.
  const keepsQueue = commit.events.some((event) => event.type === 'session_reset' && event.keepsQueue);
  const hasMessage = commit.events.some(({ type }) => type === 'user_message' || type === 'assistant_message');
  return {
    seq: commit.seq,
    ...linkAfter(before, commit),
    at: commit.at,
    interactedAt: commit.events.some(isInteraction) ? Math.max(before.interactedAt, commit.at) : before.interactedAt,
    startedRev: starts ? commit.rev : before.startedRev,
    command: seq === null || incarnation === null ? before.command : { seq, incarnation },
    ...arrivalsAfter(before, commit),
    window: bounded(starts && !keepsQueue ? [] : before.window, hasMessage ? [commit.seq] : [], limits.windowCommits),
    ...contextAfter(before, commit, starts),
    covered: coveredAfter(before.covered, commit),
    startedSeq: starts ? commit.seq : before.startedSeq,
  };
};

/** The state after one recorded commit. */
export const fold = (before: SessionState, commit: RecordedCommit): SessionState => {
  const machine = commit.events.reduce(evolve, before.machine);
  assert(commit.epoch >= before.machine.context.epoch, `epoch ${commit.epoch} follows ${before.machine.context.epoch} (I5)`);
  assert(
    commit.epoch === machine.context.epoch,
    `the commit has epoch ${commit.epoch}, its events give ${machine.context.epoch}`,
  );
  return { machine, position: advance(before.position, commit) };
};

/**
 * What is known after a commit that need not follow the one before it, for a person's decision about damage only: events that the machine
 * refuses are left out. A session id that no event gave began in a commit that is lost.
 */
export const salvage = ({ machine, position }: SessionState, commit: RecordedCommit): SessionState => {
  const { value, context } = commit.events.reduce(stepOf, machine);
  const { sessionId, epoch, rev, prev, seq } = commit;
  const isNew = sessionId !== context.sessionId;
  const generation = context.generation + (isNew ? 1 : 0);
  const follows = {
    ...{ rev: rev - 1, digest: prev ?? null, chained: prev !== undefined },
    ...(isNew && !startsGeneration(commit) && { contextSeq: seq, skips: [] }),
  };
  return {
    machine: sessionMachine.resolveState({ value, context: { ...context, sessionId, epoch, generation } }),
    position: advance({ ...position, ...follows }, commit),
  };
};

/** A state as plain data, for snapshots, the API and comparisons. */
export interface PlainState {
  readonly status: SessionStatus;
  readonly context: SessionContext;
  readonly position: Position;
}
export const toPlain = ({ machine, position }: SessionState): PlainState => ({
  status: machine.value,
  context: machine.context,
  position,
});

/** A state as it is shown: with the number of the older ids instead of their digests. */
export interface ShownState extends Omit<PlainState, 'position'> {
  readonly position: Omit<Position, 'olderIds'> & { readonly olderIds: number };
}
export const toShown = ({ status, context, position }: PlainState): ShownState => ({
  status,
  context,
  position: { ...position, olderIds: rememberedIds(position.olderIds) },
});

/** The inverse of `toPlain`. Starts no child actor: only a newly recorded event may start an effect (I6). */
export const fromPlain = ({ status, context, position }: PlainState): SessionState => ({
  machine: sessionMachine.resolveState({ value: status, context }),
  position,
});
