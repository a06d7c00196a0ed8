import type { RecordedCommit } from './envelope.ts';

/**
 * The chain of a session's commits: each names the digest of the one before it, so that a commit that is missing, changed, foreign or in
 * another order is seen where it is read (I3, F13). A history that an older version wrote has no digests; its chain begins with the first
 * commit that has one.
 */

/** The last commit read, which the next one must follow. */
export interface ChainLink {
  readonly rev: number;
  /** Digest of the commit's encoded bytes; `null` before the first commit. */
  readonly digest: string | null;
  /** The chain has begun: every further commit must name the one before it. */
  readonly chained: boolean;
}

/** Before the first commit of a key. */
export const chainStart: ChainLink = { rev: 0, digest: null, chained: false };

/** A break as words: `revs 3 to 5 are missing`. `last`, `rev`: of the commits before and after it. */
export const breakText: Readonly<Record<ChainBreak, (last: number, rev: number) => string>> = {
  missing: (last, rev) => `revs ${last + 1} to ${rev - 1} are missing`,
  repeated: (last, rev) => `rev ${rev} comes after rev ${last}`,
  changed: (last, rev) => `rev ${last} is not the commit that rev ${rev} was written after: one of them was changed`,
  unchained: (_, rev) => `rev ${rev} names no commit before it, although the chain had begun`,
};

/** The end of a session in an export: its number of commits, and the last one. */
export interface ExportEnd extends Pick<ChainLink, 'rev' | 'digest'> {
  readonly key: string;
  readonly commits: number;
}

/** What is wrong with the end of an exported session, `found` by counting and `stated` by the export; `null`: nothing. */
export const endProblem = (found: ExportEnd, stated: ExportEnd): string | null => {
  if (stated.key !== found.key) return `its end is that of ${stated.key}`;
  const isSame = stated.commits === found.commits && stated.rev === found.rev;
  if (isSame && stated.digest === found.digest) return null;
  if (isSame) return `rev ${found.rev}, its last commit, was changed`;
  return `it ends at rev ${found.rev} after ${found.commits} commits, but should end at rev ${stated.rev} after ${stated.commits}`;
};

/** The link after a commit. */
export const linkAfter = (
  { chained }: Pick<ChainLink, 'chained'>,
  { rev, digest, prev }: Pick<RecordedCommit, 'rev' | 'digest' | 'prev'>,
): ChainLink => ({ rev, digest, chained: chained || prev !== undefined });

/**
 * How a commit fails to follow the last one. `missing`: commits between them are gone; `repeated`: its rev is not new; `changed`: the last
 * one is not the commit that it names; `unchained`: it names none, although the chain has begun.
 */
export type ChainBreak = 'missing' | 'repeated' | 'changed' | 'unchained';

/** How `commit` fails to follow `last`; `null` if it follows, or if its history starts anew with it. */
export const chainBreak = (last: ChainLink, commit: Pick<RecordedCommit, 'rev' | 'prev' | 'events'>): ChainBreak | null => {
  const { rev, prev } = commit;
  if (rev <= last.rev) return 'repeated';
  if (isRepair(commit)) return null;
  if (rev > last.rev + 1) return isErasure(commit) ? null : 'missing';
  if (prev === undefined) return last.chained ? 'unchained' : null;
  return prev === last.digest ? null : 'changed';
};

/** True for the first commit of an erased history: what came before it is gone on purpose (C9). */
export const isErasure = ({ events: [first] }: Pick<RecordedCommit, 'events'>): boolean =>
  first?.type === 'session_deleted' && first.mode === 'erased';

/** True for a commit that a person's decision about damage begins with (`history_damaged`). */
const isRepair = ({ events: [first] }: Pick<RecordedCommit, 'events'>): boolean => first?.type === 'history_damaged';

/** True for a commit whose state depends on nothing before it: what is missing there is explained. */
export const startsAnew = (commit: Pick<RecordedCommit, 'events'>): boolean => isErasure(commit) || isRepair(commit);

/**
 * Commits of a session that cannot be read as they were written. `missing`: they are not there; `changed`: the chain does not lead through
 * them; `unreadable`: something is stored in their place.
 */
export interface HistoryGap {
  readonly reason: 'missing' | 'changed' | 'unreadable';
  readonly fromRev: number;
  /** `null`: not known, since nothing after it can be read. */
  readonly toRev: number | null;
  /** Sequence of the last commit before it; 0: none. */
  readonly afterSeq: number;
  /** Sequence of the first commit after it; `null`: none. */
  readonly beforeSeq: number | null;
}

/** The last commit read, and its place in the log. */
export type ReadLink = ChainLink & { readonly seq: number };

/** The gap in front of a commit; `null` if it follows the last one. */
export const gapBefore = (last: ReadLink, commit: RecordedCommit): HistoryGap | null => {
  const broken = chainBreak(last, commit);
  if (broken === null) return null;
  const places = { afterSeq: last.seq, beforeSeq: commit.seq };
  switch (broken) {
    case 'missing':
      return { reason: 'missing', fromRev: last.rev + 1, toRev: commit.rev - 1, ...places };
    case 'changed':
      return { reason: 'changed', fromRev: Math.max(1, last.rev), toRev: Math.max(1, last.rev), ...places };
    case 'repeated':
      return { reason: 'changed', fromRev: commit.rev, toRev: last.rev, ...places };
    case 'unchained':
      return { reason: 'changed', fromRev: commit.rev, toRev: commit.rev, ...places };
  }
};

/** The gap as words: `revs 3 to 5 are missing`. */
export const gapText = ({ reason, fromRev, toRev }: Pick<HistoryGap, 'reason' | 'fromRev' | 'toRev'>): string => {
  if (toRev === fromRev) return `rev ${fromRev} is ${reason}`;
  return toRev === null ? `what follows rev ${fromRev - 1} is ${reason}` : `revs ${fromRev} to ${toRev} are ${reason}`;
};

/** True when a state was folded up to exactly this commit. */
export const standsOn = (
  { position }: { readonly position: Pick<ReadLink, 'seq' | 'digest'> },
  { seq, digest }: Pick<RecordedCommit, 'seq' | 'digest'>,
): boolean => position.seq === seq && position.digest === digest;
