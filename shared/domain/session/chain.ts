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

/** How `commit` fails to follow `last`; `null` if it follows. What an erasure removed is gone on purpose (C9). */
export const chainBreak = (last: ChainLink, commit: Pick<RecordedCommit, 'rev' | 'prev' | 'events'>): ChainBreak | null => {
  const { rev, prev } = commit;
  if (rev <= last.rev) return 'repeated';
  if (rev > last.rev + 1) return isErasure(commit) ? null : 'missing';
  if (prev === undefined) return last.chained ? 'unchained' : null;
  return prev === last.digest ? null : 'changed';
};

/** True for the first commit of an erased history: what came before it is gone on purpose (C9). */
export const isErasure = ({ events: [first] }: Pick<RecordedCommit, 'events'>): boolean =>
  first?.type === 'session_deleted' && first.mode === 'erased';
