import { z } from 'zod';
import { limits } from '../../kit/limits.ts';

/** Commits that a conversation leaves out: those with `after < seq < until`. */
const skippedCommits = z.object({ after: z.int().min(1), until: z.int().min(1) });
/** Where a fork branches off: the session after that commit, and where its conversation is read from (B21). */
export const forkBase = z.object({
  sessionId: z.string(),
  seq: z.int().min(1),
  rev: z.int().min(1),
  contextSeq: z.int().min(1),
  skips: z.array(skippedCommits).max(limits.forkDepth),
});
export type ForkBase = z.infer<typeof forkBase>;

/** What a conversation leaves out from the fork at sequence `until` on. */
export const skipsOf = ({ skips, seq: after }: Pick<ForkBase, 'skips' | 'seq'>, until: number): ForkBase['skips'] => [
  ...skips,
  { after, until },
];
