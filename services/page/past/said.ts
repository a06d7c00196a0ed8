import { withdrawnText } from '../../../shared/domain/prompt/conversation-message.ts';
import { messageText } from '../../../shared/domain/prompt/sub-agent-message.ts';
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

interface KnownSaid extends Said {
  /** Of its event: `<seq>.<index>`. */
  readonly id: string;
}

type SaidAt = Pick<RecordedCommit, 'seq' | 'actor' | 'events'>;

/** What an event of a commit says. `revised`: the text that counts by now; `null`: it was withdrawn. */
const saidBy = ({ seq, actor, events }: SaidAt, index: number, revised?: string | null): Said[] => {
  const event = events[index];
  if (event?.type === 'assistant_message') return [{ seq, role: 'assistant', text: event.text, actor }];
  if (event?.type !== 'user_message') return [];
  const { sender, attachments } = event.message;
  const now = revised === null ? withdrawnText : `${revised ?? messageText(event.message)} ${attachedText(attachments)}`.trim();
  return [{ seq, role: 'user', text: now, sender, actor }];
};

/** What counts in the place of messages by now, each by its id; `null`: it was withdrawn. Events are noted newest first. */
class Revisions {
  readonly #texts = new Map<string, string | null>();

  note(event: SessionEvent): void {
    if (event.type !== 'message_edited' && event.type !== 'message_withdrawn') return;
    if (!this.#texts.has(event.of)) this.#texts.set(event.of, event.type === 'message_edited' ? event.text : null);
  }

  said(commit: SaidAt, index: number): KnownSaid[] {
    const id = `${commit.seq}.${index}`;
    return saidBy(commit, index, this.#texts.get(id)).map((said) => ({ id, ...said }));
  }
}

/** The events of commits, newest first. */
function* backwards<Commit extends Pick<SaidAt, 'events'>>(
  commits: Iterable<Commit>,
): Generator<{ readonly commit: Commit; readonly index: number; readonly event: SessionEvent }> {
  for (const commit of commits)
    for (let index = commit.events.length - 1; index >= 0; index--) {
      const event = commit.events[index];
      if (event) yield { commit, index, event };
    }
}

/** What one commit said to people, or they to it. */
export const saidIn = (commit: SaidAt): Said[] => commit.events.flatMap((_, index) => saidBy(commit, index));

/** What was said in some commits, oldest first, each as it was last edited in them, without what was taken back or dropped before its answer. */
export const saidAmong = (commits: readonly RecordedCommit[]): readonly Said[] => {
  const [revisions, dropped] = [new Revisions(), new Set<string>()];
  const lines: Said[] = [];
  for (const { commit, index, event } of backwards(commits.toReversed())) {
    revisions.note(event);
    if (event.type === 'queue_cleared') for (const id of event.turnIds) dropped.add(id);
    if (event.type !== 'user_message' || event.turnId === undefined || !dropped.has(event.turnId))
      lines.push(...revisions.said(commit, index));
  }
  return lines.reverse();
};

type Known = Pick<ShownState['position'], 'contextSeq' | 'skips'>;

/**
 * The commits that the agent knows after `place` of them, newest first. What a fork left behind, and what was before a reset or a deletion or is
 * summarised, is none of them.
 */
function* knownCommits(
  commits: readonly RecordedCommit[],
  place: number,
  { contextSeq, skips }: Known,
): Generator<RecordedCommit> {
  for (let at = place - 1; at >= 0; at--) {
    const commit = commits[at];
    if (commit === undefined || commit.seq < contextSeq) return;
    if (commit.events.some(({ type }) => type === 'session_deleted')) return;
    if (!skips.some(({ after, until }) => commit.seq > after && commit.seq <= until)) yield commit;
  }
}

/** The turns that an event takes up, each by its id, which its message has as well. */
const takenUp = (event: SessionEvent): readonly string[] => {
  if (event.type === 'turn_started') return [event.turn.id, ...(event.merged ?? []).map(({ id }) => id)];
  return event.type === 'turn_joined' ? [event.runId] : [];
};

/** Lines of one message; `null`: they are to be read yet, as it waited before it was taken up here. */
interface Heard {
  lines: readonly KnownSaid[] | null;
}

/**
 * The lines that the agent knows after `place` commits, newest first, each as it was last edited. A message that asks for an answer is known from
 * when it is taken up, and stands there: not while it waits, nor if it was dropped or taken back. Of what was before a reset that kept the
 * queue only such messages are known.
 */
function* knownSaid(commits: readonly RecordedCommit[], place: number, known: Known): Generator<KnownSaid> {
  const revisions = new Revisions();
  const byTurn = new Map<string, Heard>();
  const heard: Heard[] = [];
  const takeUp = (turn: string): void => {
    // One that was begun again was taken up when it was begun first.
    const later = byTurn.get(turn);
    if (later) later.lines = [];
    const lines: Heard = { lines: null };
    byTurn.set(turn, lines);
    heard.push(lines);
  };
  let isBeforeReset = false;
  for (const { commit, index, event } of backwards(knownCommits(commits, place, known))) {
    if (event.type === 'session_reset' && event.forkedFrom === undefined) isBeforeReset = true;
    if (!isBeforeReset) takenUp(event).toReversed().forEach(takeUp);
    revisions.note(event);
    const turn = event.type === 'user_message' ? event.turnId : undefined;
    const waited = byTurn.get(turn ?? '');
    if (waited) waited.lines = revisions.said(commit, index);
    else if (turn === undefined && !isBeforeReset) heard.push({ lines: revisions.said(commit, index) });
    while (heard[0]?.lines) yield* heard.shift()?.lines ?? [];
  }
  for (const { lines } of heard) yield* lines ?? [];
}

/**
 * The last `most` lines of the conversation that the agent knows after `place` commits, oldest first, and whether there are others before them.
 * One more is among them where it is the only other: to hide it saves no room.
 */
export const lastSaid = (
  commits: readonly RecordedCommit[],
  place: number,
  known: Known,
  most: number,
): { readonly lines: readonly KnownSaid[]; readonly hasMore: boolean } => {
  const lines: KnownSaid[] = [];
  for (const said of knownSaid(commits, place, known)) {
    lines.push(said);
    if (lines.length > most + 1) return { lines: lines.slice(0, most).toReversed(), hasMore: true };
  }
  return { lines: lines.toReversed(), hasMore: false };
};

/** All that the agent knows of the conversation after `place` commits, oldest first. */
export const allSaid = (commits: readonly RecordedCommit[], place: number, known: Known): readonly KnownSaid[] =>
  [...knownSaid(commits, place, known)].reverse();
