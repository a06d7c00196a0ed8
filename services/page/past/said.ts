import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { ShownState } from '../../../shared/domain/session/fold/evolve.ts';
import { attachedText } from '../../../shared/domain/values/attachment.ts';
import type { Sender } from '../../../shared/domain/values/types.ts';

export interface Said {
  readonly seq: number;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly sender?: Sender;
  /** Who sent it, as the log has it. */
  readonly actor: string;
}

/** What one commit said to people, or they to it. */
export const saidIn = ({ seq, actor, events }: Pick<RecordedCommit, 'seq' | 'actor' | 'events'>): Said[] =>
  events.flatMap((event): Said[] => {
    if (event.type === 'user_message') {
      const { text, sender, attachments } = event.message;
      return [{ seq, role: 'user', text: `${text} ${attachedText(attachments)}`.trim(), sender, actor }];
    }
    return event.type === 'assistant_message' ? [{ seq, role: 'assistant', text: event.text, actor }] : [];
  });

type Known = Pick<ShownState['position'], 'contextSeq' | 'skips'>;

/** The commits that the agent knows after `place` of them, newest first. What a fork left behind, and what was before a reset or is summarised, is none of them. */
function* knownCommits(
  commits: readonly RecordedCommit[],
  place: number,
  { contextSeq, skips }: Known,
): Generator<RecordedCommit> {
  for (let at = place - 1; at >= 0; at--) {
    const commit = commits[at];
    if (commit === undefined || commit.seq < contextSeq) return;
    if (!skips.some(({ after, until }) => commit.seq > after && commit.seq <= until)) yield commit;
  }
}

/** The last `most` lines of the conversation that the agent knows after `place` commits, oldest first, and whether there are others before them. */
export const lastSaid = (
  commits: readonly RecordedCommit[],
  place: number,
  known: Known,
  most: number,
): { readonly lines: readonly Said[]; readonly hasMore: boolean } => {
  const lines: Said[] = [];
  for (const commit of knownCommits(commits, place, known)) {
    lines.unshift(...saidIn(commit));
    if (lines.length > most) return { lines: lines.slice(-most), hasMore: true };
  }
  return { lines, hasMore: false };
};

/** How many messages the agent knows after `place` commits. */
export const knownMessages = (commits: readonly RecordedCommit[], place: number, known: Known): number => {
  let count = 0;
  for (const commit of knownCommits(commits, place, known)) count += saidIn(commit).length;
  return count;
};
