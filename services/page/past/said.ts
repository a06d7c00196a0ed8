import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
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

/** The turns that an event takes up, each by its id, which its message has as well. */
const takenUp = (event: SessionEvent): readonly string[] => {
  if (event.type === 'turn_started') return [event.turn.id, ...(event.merged ?? []).map(({ id }) => id)];
  return event.type === 'turn_joined' ? [event.runId] : [];
};

/**
 * The lines that the agent knows after `place` commits, newest first. A message that asks for an answer is known from when it is taken up: not
 * while it waits, nor if it was dropped or taken back. Of what was before a reset that kept the queue only such messages are known.
 */
function* knownSaid(commits: readonly RecordedCommit[], place: number, known: Known): Generator<Said> {
  const taken = new Set<string>();
  let isBeforeReset = false;
  for (const commit of knownCommits(commits, place, known))
    for (const event of commit.events.toReversed()) {
      if (event.type === 'session_reset' && event.forkedFrom === undefined) isBeforeReset = true;
      if (!isBeforeReset) for (const id of takenUp(event)) taken.add(id);
      const turn = event.type === 'user_message' ? event.turnId : undefined;
      if (turn === undefined ? !isBeforeReset : taken.has(turn)) yield* saidIn({ ...commit, events: [event] });
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
  for (const said of knownSaid(commits, place, known)) {
    if (lines.length === most) return { lines: lines.toReversed(), hasMore: true };
    lines.push(said);
  }
  return { lines: lines.toReversed(), hasMore: false };
};

/** How many messages the agent knows after `place` commits. */
export const knownMessages = (commits: readonly RecordedCommit[], place: number, known: Known): number =>
  [...knownSaid(commits, place, known)].length;
