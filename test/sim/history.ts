import type { IndexRow } from '../../shared/domain/projections/index-row.ts';
import { startsAnew } from '../../shared/domain/session/chain.ts';
import type { CommandAnswer, CommandEnvelope, RecordedCommit } from '../../shared/domain/session/envelope.ts';
import { fold, initialState, type PlainState, type SessionState } from '../../shared/domain/session/fold/evolve.ts';
import type { TurnRef } from '../../shared/domain/values/types.ts';
import { errorMessage } from '../../shared/kit/errors.ts';

/**
 * What was done and seen from outside: all that the checkers know. A position in it is the number of commits in the log at that moment.
 * A run that does not record something leaves it empty.
 */
export interface History {
  /** The whole log, in its order. */
  readonly commits: readonly RecordedCommit[];
  readonly sent: readonly Sent[];
  readonly told: readonly Told[];
  readonly modelCalls: readonly ModelCall[];
  readonly effects: readonly Effect[];
  /** States of live actors, as hosts wrote them down. */
  readonly snapshots: readonly { readonly host: string; readonly state: PlainState; readonly key: string }[];
  /** From where hosts loaded sessions: the rev of the snapshot that they got, 0 without one. */
  readonly loads: readonly { readonly host: string; readonly key: string; readonly rev: number }[];
  /** How many of these had been made when a commit was first sent, by its id. */
  readonly writes: ReadonlyMap<string, number>;
  readonly damages: readonly Damage[];
  readonly rollbacks: readonly Rollback[];
  /** At most one: `livesOf` makes two histories of it. */
  readonly losses: readonly Loss[];
  /** It ends in the middle of everything: nothing of it has to come to an end. */
  readonly isCut?: true;
  readonly residents: readonly { readonly host: string; readonly resident: number; readonly limit: number }[];
  /** The session index at the end; `null` when there is none. */
  readonly index: readonly IndexRow[] | null;
  /** Commands still in the queue at the end. */
  readonly unfinished: number;
}

/** One command as its sender sees it. */
export interface Sent {
  readonly envelope: CommandEnvelope;
  readonly client: string;
  /** Position when it was first sent. */
  readonly from: number;
  /** True once the queue has said that it is durable. */
  acknowledged: boolean;
  /** Place among the acknowledgements of its client for its key; `null` when the client did not wait for it before it went on. */
  order: number | null;
  /** What had been recorded of it is lost: that it was acknowledged before counts no longer. */
  isLost?: true;
}

/** An outcome that a host told somebody. */
export interface Told {
  readonly host: string;
  readonly key: string;
  readonly answer: CommandAnswer;
  readonly at: number;
}

/** A call that costs money: one step of a model. */
export interface ModelCall {
  readonly host: string;
  readonly key: string;
  readonly turn: TurnRef;
  readonly step: number;
  /** What it was made for, if not for an answer. */
  readonly purpose?: string | undefined;
  readonly prompt: string;
  readonly steps: readonly string[];
  readonly at: number;
}

/** What a tool did to the world. `turn` is the attempt that it was called in. */
export interface Effect {
  readonly host: string;
  readonly key: string;
  readonly turn: TurnRef;
  readonly callId: string;
  readonly tool: string;
  readonly arguments: unknown;
  readonly at: number;
}

/** What the store did to a commit that had been written. The history keeps the commit as it was. */
export interface Damage {
  readonly key: string;
  readonly seq: number;
  readonly rev: number;
  readonly how: 'missing' | 'changed' | 'unreadable';
  readonly at: number;
  /** How many loads had been made before. */
  readonly loads: number;
}

/** An older copy of the log was put in its place, and later the newer one put back. */
export interface Rollback {
  /** The copy ended with this commit. */
  readonly to: number;
  /** The log had reached this one. */
  readonly at: number;
  /** What was appended to the copy. */
  readonly written: readonly RecordedCommit[];
  /** What readers got of the copy, and where each stood before that. */
  readonly reads: readonly { readonly reader: string; readonly after: number; readonly seq: number; readonly id: string }[];
}

/** The end of the log is lost, and a person has accepted that (I13). */
export interface Loss {
  /** The last commit that is left. */
  readonly to: number;
  /** The log had reached this one. */
  readonly at: number;
  /** The log as it had been. */
  readonly log: readonly RecordedCommit[];
  /** The processes that had seen it. */
  readonly sawIt: ReadonlySet<string>;
}

/** The damages with the position at which a person had decided about each: before it the session is read-only (F13). */
export const decisionsOf = ({ commits, damages }: Pick<History, 'commits' | 'damages'>): (Damage & { until: number })[] =>
  damages.map((damage) => {
    const decision = commits.find((commit) => commit.key === damage.key && commit.seq > damage.seq && startsAnew(commit));
    return { ...damage, until: decision?.seq ?? Number.POSITIVE_INFINITY };
  });

/**
 * The ids that were in commits lost at the time of a person's decision, by the sequence of the decision. The session may know no more of them,
 * so what has them may come again after it (F13).
 */
export const lostIds = ({ commits, damages }: Pick<History, 'commits' | 'damages'>): ReadonlyMap<number, ReadonlySet<string>> => {
  const lost = new Map<number, Set<string>>();
  for (const { key, seq, at } of damages) {
    const decision = commits.find((commit) => commit.key === key && commit.seq > at && startsAnew(commit));
    const damaged = commits.find((commit) => commit.seq === seq);
    if (decision === undefined || damaged === undefined) continue;
    lost.set(decision.seq, new Set([...(lost.get(decision.seq) ?? []), damaged.command.id, ...messageIdsOf(damaged)]));
  }
  return lost;
};

/** The decision after which an id may be new, by what was recorded up to a position; 0: none. */
export const newSince = (lost: ReturnType<typeof lostIds>, id: string, at: number): number =>
  Math.max(0, ...[...lost].flatMap(([seq, ids]) => (seq <= at && ids.has(id) ? [seq] : [])));

/** The ids of the messages that a commit accepts or refuses, and of their turns. */
const messageIdsOf = ({ events }: RecordedCommit): string[] =>
  events.flatMap((event) => {
    if (event.type === 'user_message') return [event.message.messageId, ...(event.turnId === undefined ? [] : [event.turnId])];
    return event.type === 'message_refused' ? [event.messageId] : [];
  });

/** The keys whose damage nobody has decided about at the end. */
export const damagedKeys = (history: Pick<History, 'commits' | 'damages'>): Set<string> =>
  new Set(decisionsOf(history).flatMap(({ key, until }) => (until === Number.POSITIVE_INFINITY ? [key] : [])));

/** Says what is wrong with a history, one line for each finding; empty: nothing. Pure. */
export type Checker = (history: History) => string[];

/** The commits of each key, in order. */
export const byKey = ({ commits }: Pick<History, 'commits'>): Map<string, RecordedCommit[]> => {
  const keys = new Map<string, RecordedCommit[]>();
  for (const commit of commits) {
    const own = keys.get(commit.key);
    if (own === undefined) keys.set(commit.key, [commit]);
    else own.push(commit);
  }
  return keys;
};

/** A key's log, the state before each commit and after the last, and why it cannot be folded further, if so. */
export interface Folded {
  readonly log: readonly RecordedCommit[];
  readonly states: readonly SessionState[];
  readonly broken: string | null;
}

/** Folds are what checking costs; several checkers need the same ones. */
const remembered = new WeakMap<readonly RecordedCommit[], Map<string, Folded>>();

/** Every key of a history, folded. */
export const foldsOf = (history: Pick<History, 'commits'>): Map<string, Folded> => {
  const known = remembered.get(history.commits);
  if (known !== undefined) return known;
  const folds = new Map([...byKey(history)].map(([key, log]) => [key, foldOf(log)]));
  remembered.set(history.commits, folds);
  return folds;
};

const foldOf = (log: readonly RecordedCommit[]): Folded => {
  const states = [initialState];
  for (const commit of log) {
    try {
      states.push(fold(states.at(-1) ?? initialState, commit));
    } catch (error) {
      return { log, states, broken: `the log cannot be folded at ${commit.seq}: ${errorMessage(error)}` };
    }
  }
  return { log, states, broken: null };
};
