import type { HistoryGap } from '../../../shared/domain/session/chain.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import {
  forkBaseOf,
  initialState,
  type SessionState,
  type ShownState,
  toPlain,
  toShown,
} from '../../../shared/domain/session/fold/evolve.ts';
import { HistoryFold } from '../../../shared/domain/session/fold/history-fold.ts';
import { isNatters } from '../../../shared/domain/values/person-words.ts';
import { modelAfter } from '../parts/model-words.ts';
import { type Landmark, landmarkOf } from './landmark.ts';
import { type LeftBehind, leaverOf, leftAfter, resetsAmong } from './left-behind.ts';
import { allSaid, type Said, saidAmong } from './said.ts';

/**
 * The past of a session, folded by the very function of the runtime (I4). Nothing is executed: the fold has no effects. A state is kept every
 * few commits, so that any moment is near one; states share memory, and the commits are kept once.
 */

/** Commits between two kept states: a seek folds fewer than this. */
const keptEvery = 25;

/** Events that tell more of a commit than those before them in it, the most telling first. */
const telling = ['assistant_message', 'user_message', 'turn_aborted', 'tool_result', 'model_step'] as const;
/** The event that a commit is named after: what a person looks for, else what was said or done, else its first. */
export const headOf = ({ events }: RecordedCommit): SessionEvent | undefined => {
  const most = telling.find((type) => events.some((event) => event.type === type));
  return events.find(landmarkOf) ?? events.find(({ type }) => type === most) ?? events[0];
};

/** The error that a commit is named after; none: it is no error. */
const errorOf = (commit: RecordedCommit): SessionEvent | undefined => {
  const head = headOf(commit);
  return head && landmarkOf(head) === 'error' ? head : undefined;
};

/** The errors among commits, each with the sequence of its commit. */
export const errorsAmong = (commits: readonly RecordedCommit[]): RecordedError[] =>
  commits.flatMap((commit) => {
    const error = errorOf(commit);
    return error ? [{ seq: commit.seq, error }] : [];
  });

const answerEnds = ['turn_failed', 'turn_completed', 'turn_aborted', 'session_reset', 'session_deleted'];
/** Whether the last answer that had ended after so many commits, in this generation, failed. */
export const hasFailed = (commits: readonly RecordedCommit[], count: number): boolean => {
  for (let at = count - 1; at >= 0; at--) {
    const end = commits[at]?.events.findLast(({ type }) => answerEnds.includes(type));
    if (end !== undefined) return end.type === 'turn_failed';
  }
  return false;
};

/** Whether a commit has a message that Natter itself wrote to the agent. */
const isOfNatter = ({ events }: RecordedCommit): boolean =>
  events.some((event) => event.type === 'user_message' && isNatters(event.message.sender));

/** How many of the messages of a generation are from Natter itself, by its last commits; `null`: they do not go back to its beginning. */
export const nattersIn = (commits: readonly RecordedCommit[], startedSeq: number): number | null =>
  (commits[0]?.seq ?? 0) > startedSeq ? null : commits.filter((commit) => commit.seq >= startedSeq && isOfNatter(commit)).length;

export interface RecordedError {
  readonly seq: number;
  readonly error: SessionEvent;
}

/**
 * A fork, or a reset that begins again from the first message: the place of its commit, the one that it goes on from (0: from none), and where
 * it ended, as numbers of commits.
 */
export interface Fork {
  readonly place: number;
  readonly base: number;
  readonly end: number;
  /** The last commit that the conversation had before the fork and has after it; 0: there is none, as where a reset came in between. */
  readonly ancestor: number;
  /** The commits after that one that the conversation had before the fork. */
  readonly left: readonly RecordedCommit[];
  /** And those that it had at the end of the fork: what comes back from an earlier fork, and what was recorded since. */
  readonly kept: readonly RecordedCommit[];
}

type Branches = Pick<Fork, 'base' | 'ancestor' | 'left' | 'kept'>;

export class Timeline {
  readonly commits: RecordedCommit[] = [];
  /** The places of landmarks, by kind, in order. */
  readonly marks: Readonly<Record<Landmark, number[]>> = { error: [], checkpoint: [], reset: [], fork: [], approval: [] };
  /** The state after every `keptEvery` commits, the first of them before any. */
  readonly #kept: SessionState[] = [initialState];
  /** The model after each commit, as far as the commits tell. */
  readonly #models: (string | undefined)[] = [];
  /** The places of the messages that Natter itself wrote to the agent. */
  readonly #natters: number[] = [];
  readonly #fold = new HistoryFold();
  /** As it is by now. */
  #left: LeftBehind = new Map();
  /** What each fork left behind and took back, by its place. */
  readonly #branches = new Map<number, Branches>();

  /** Adds the next commit. Throws `AssertionError` for one that cannot be folded. */
  add(commit: RecordedCommit): void {
    this.#fold.take(commit);
    this.commits.push(commit);
    this.#models.push(commit.events.reduce(modelAfter, this.#models.at(-1)));
    if (isOfNatter(commit)) this.#natters.push(this.commits.length);
    this.#noteFork(commit);
    const head = headOf(commit);
    // An approval is one: its question leads to its answer.
    const mark = head === undefined || head.type === 'approval_resolved' ? null : landmarkOf(head);
    if (mark !== null) this.marks[mark].push(this.commits.length);
    if (this.commits.length % keptEvery === 0) this.#kept.push(this.#fold.state);
  }

  #noteFork(commit: RecordedCommit): void {
    const before = this.#left;
    const after = leftAfter(before, commit, this.commits);
    if (after === before) return;
    this.#left = after;
    const base = forkBaseOf(commit)?.seq ?? 0;
    const begun = resetsAmong(this.commits, before).findLast((reset) => reset < commit.seq) ?? 0;
    const isShared = (seq: number): boolean => seq <= base && seq >= begun && !before.has(seq) && !after.has(seq);
    this.#branches.set(this.commits.length, {
      base: this.countAt(base),
      ancestor: this.commits.findLastIndex(({ seq }) => isShared(seq)) + 1,
      left: this.commits.filter(({ seq }) => after.get(seq) === commit.seq),
      kept: this.commits.filter(({ seq }) => before.has(seq) && !after.has(seq)),
    });
  }

  /** Whether a commit was left behind: the agent goes on without it. */
  isLeft(seq: number): boolean {
    return this.#left.has(seq);
  }

  /** What has left a commit behind, in words: `the fork`. */
  leaverOf(seq: number): string {
    return leaverOf(this.commits[this.countAt(this.#left.get(seq) ?? 0) - 1]);
  }

  /** The damage that nobody has decided about: what follows it is not folded. */
  get gap(): HistoryGap | null {
    return this.#fold.gap;
  }

  /** The state after so many commits; 0: before the first. */
  stateAfter(count: number): ShownState {
    return toShown(toPlain(this.#foldedTo(count).state));
  }

  /** The states before and after the commit at a place. */
  statesAround(place: number): readonly [before: ShownState, after: ShownState] {
    const before = this.#foldedTo(Math.max(0, place - 1));
    const shown = toShown(toPlain(before.state));
    const commit = this.commits[place - 1];
    if (commit === undefined) return [shown, shown];
    before.take(commit);
    return [shown, toShown(toPlain(before.state))];
  }

  #foldedTo(count: number): HistoryFold {
    const near = Math.min(Math.floor(count / keptEvery), this.#kept.length - 1);
    const fold = new HistoryFold(this.#kept[near]);
    for (const commit of this.commits.slice(near * keptEvery, count)) fold.take(commit);
    return fold;
  }

  /** The model that the session had after so many commits: the one it was given, else the one that answered last. */
  modelAt(count: number): string | undefined {
    return this.#models[count - 1];
  }

  /** All forks, oldest first. One ends where the next generation begins. */
  forks(): Fork[] {
    const ends = [...this.marks.reset, ...this.marks.fork].sort((one, other) => one - other);
    return [...this.#branches].map(([place, branches]) => {
      const end = (ends.find((other) => other > place) ?? this.commits.length + 1) - 1;
      return { place, end, ...branches, kept: [...branches.kept, ...this.commits.slice(place - 1, end)] };
    });
  }

  /** What was said in the commits after a place, up to another. */
  saidBetween(after: number, until: number): readonly Said[] {
    return saidAmong(this.commits.slice(after, until));
  }

  /** All that the agent knew of the conversation after so many commits. */
  knownAt(count: number): ReturnType<typeof allSaid> {
    return allSaid(this.commits, count, this.#foldedTo(count).state.position);
  }

  /** How many messages Natter itself wrote to the agent in the commits after a place, up to another. */
  nattersBetween(after: number, until: number): number {
    return this.#natters.filter((place) => place > after && place <= until).length;
  }

  /** The error that the commit at a place is named after; none: it is no error. */
  errorAt(place: number): SessionEvent | undefined {
    const commit = this.commits[place - 1];
    return commit && errorOf(commit);
  }

  /** The place of the first answer that failed since the last reset or fork; `null`: none did. */
  firstFailed(): number | null {
    const { error, reset, fork } = this.marks;
    const begun = Math.max(reset.at(-1) ?? 0, fork.at(-1) ?? 0);
    return error.find((mark) => mark > begun && this.errorAt(mark)?.type === 'turn_failed') ?? null;
  }

  /** The number that the session gives the commit at a place: another one where what was before is not there to see. 0: before the first. */
  numberAt(place: number): number {
    return this.commits[place - 1]?.rev ?? 0;
  }

  /** How many commits there were at a sequence. */
  countAt(seq: number): number {
    return this.#countUpTo('seq', seq);
  }

  /** The place of a commit by its number in the session; of one that is not there, that of the commit before it. */
  placeOf(number: number): number {
    return this.#countUpTo('rev', number);
  }

  #countUpTo(field: 'seq' | 'rev', most: number): number {
    let [low, high] = [0, this.commits.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.commits[middle]?.[field] ?? 0) <= most) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The next landmark of a kind after a place, or before it; `null` if there is none. */
  markFrom(kind: Landmark, place: number, direction: 1 | -1): number | null {
    const marks = this.marks[kind];
    return (direction === 1 ? marks.find((mark) => mark > place) : marks.findLast((mark) => mark < place)) ?? null;
  }
}
