import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventOf, SessionEvent } from '../../../shared/domain/session/events.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { orQuarantined } from '../../../shared/kit/or-quarantined.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import type { Call } from '../operation/operation.ts';
import { type RunEvent, RunEventStream } from './run-event-stream.ts';

/** What was said in a session's present generation, for user interfaces that are loaded again. */
export type HistoryEntry = SaidEntry | AnswerEntry;

/** A message. `id`: as its program names it, else the message's own. */
export interface SaidEntry {
  readonly kind: 'said';
  readonly id: string;
  readonly of: string;
  readonly seq: number;
  readonly text: string;
  /** The run that answers it, if it asked for one. */
  readonly runId: string | undefined;
  /** Nothing of this generation is before it. */
  readonly isFirst: boolean;
}
/** The run that answers a message, as its streams told it, with the sequence of each event. */
export interface AnswerEntry {
  readonly kind: 'answered';
  readonly runId: string;
  readonly seq: number;
  readonly events: readonly { readonly seq: number; readonly event: RunEvent }[];
}

/** A run that goes on, and the answer that it adds to. A run that began with results adds to that of its turn. */
interface OpenRun {
  readonly stream: RunEventStream;
  readonly turnId: string;
  readonly answerId: string;
}

/** Collects entries commit by commit. A fork goes on from what there was at its place. */
class RunHistory {
  #entries: readonly HistoryEntry[] = [];
  /** What there was from these sequences on. */
  readonly #timeline: { readonly fromSeq: number; entries: readonly HistoryEntry[] }[] = [];
  #runs = new Map<string, OpenRun>();

  get entries(): readonly HistoryEntry[] {
    return this.#entries;
  }

  take(commit: RecordedCommit): void {
    const { seq, events } = commit;
    let isFirst = false;
    for (const [index, event] of events.entries()) {
      isFirst ||= this.#begin(event, seq);
      this.#hear(event, { seq, of: `${seq}.${index}`, isFirst });
    }
    for (const [runId, run] of this.#runs) this.#tell(runId, run, commit);
    const last = this.#timeline.at(-1);
    if (last) last.entries = this.#entries;
  }

  /** True for the start of a generation that has nothing in it. */
  #begin(event: SessionEvent, fromSeq: number): boolean {
    if (event.type !== 'session_reset' && event.type !== 'session_opened' && event.type !== 'session_deleted') return false;
    const base = event.type === 'session_reset' ? event.forkedFrom : undefined;
    this.#entries = base === undefined ? [] : this.#upTo(base.seq);
    this.#timeline.push({ fromSeq, entries: this.#entries });
    // Only what waited in the queue may go on.
    for (const [runId, { stream }] of this.#runs) if (stream.isBegun) this.#runs.delete(runId);
    return base === undefined;
  }

  #upTo(seq: number): readonly HistoryEntry[] {
    const then = this.#timeline.findLast(({ fromSeq }) => fromSeq <= seq)?.entries ?? [];
    return then
      .filter((entry) => entry.seq <= seq)
      .map((entry) => (entry.kind === 'said' ? entry : { ...entry, events: entry.events.filter((told) => told.seq <= seq) }));
  }

  #hear(event: SessionEvent, place: Pick<SaidEntry, 'seq' | 'of' | 'isFirst'>): void {
    switch (event.type) {
      case 'user_message':
        return this.#said(event, place);
      case 'message_edited':
        return this.#revise(event.of, event.text);
      case 'message_withdrawn':
        return this.#revise(event.of, null);
      case 'client_results_received': {
        const { id: turnId } = event.turn;
        const waiting = this.#runs.get(turnId);
        this.#runs.delete(turnId);
        const stream = new RunEventStream(event.runId);
        this.#runs.set(event.runId, { stream, turnId, answerId: waiting?.answerId ?? turnId });
        return;
      }
      default:
        return;
    }
  }

  /** What a program told without asking for an answer is nothing that anybody said. */
  #said({ message, turnId }: EventOf<'user_message'>, place: Pick<SaidEntry, 'seq' | 'of' | 'isFirst'>): void {
    if (turnId === undefined && message.sender.role === 'program') return;
    const { clientId, messageId, text } = message;
    this.#entries = [...this.#entries, { kind: 'said', id: clientId ?? messageId, text, runId: turnId, ...place }];
    if (turnId !== undefined) this.#runs.set(turnId, { stream: new RunEventStream(turnId), turnId, answerId: turnId });
  }

  #revise(of: string, text: string | null): void {
    this.#entries = this.#entries.flatMap((entry) => {
      if (entry.kind !== 'said' || entry.of !== of) return [entry];
      return text === null ? [] : [{ ...entry, text }];
    });
  }

  #tell(runId: string, { stream, turnId, answerId }: OpenRun, commit: RecordedCommit): void {
    const told = stream.take(commit);
    // Another turn answers it, and its events are that one's.
    if (stream.turnId !== null && stream.turnId !== turnId) return void this.#runs.delete(runId);
    if (told.at(-1)?.type === 'end') this.#runs.delete(runId);
    if (told.length === 0) return;
    const events = told.map((event) => ({ seq: commit.seq, event }));
    const isKnown = this.#entries.some((entry) => isAnswer(entry, answerId));
    this.#entries = isKnown
      ? this.#entries.map((entry) => (isAnswer(entry, answerId) ? { ...entry, events: [...entry.events, ...events] } : entry))
      : [...this.#entries, { kind: 'answered', runId: answerId, seq: commit.seq, events }];
  }
}
const isAnswer = (entry: HistoryEntry, runId: string): entry is AnswerEntry => entry.kind === 'answered' && entry.runId === runId;

/** The last entries of a session that the caller may see, oldest first, without the answer that still runs or waits. */
export const endedEntries = async (
  { context, caller }: Pick<Call, 'context' | 'caller'>,
  { key, limit }: { readonly key: SessionKey; readonly limit: number },
): Promise<readonly HistoryEntry[]> => {
  const { row, after } = await context.access.read(caller.principal, key);
  const entries = await historyEntries(context, caller.actor, key, after);
  return entries.filter((entry) => entry.kind === 'said' || entry.runId !== row.activeTurnId).slice(-limit);
};

/** The entries of a session after a sequence, oldest first. Of a long session only the recent part of the log is read. */
export const historyEntries = (
  { ports, replays }: Pick<GatewayContext, 'ports' | 'replays'>,
  actor: string,
  key: SessionKey,
  after: number,
): Promise<readonly HistoryEntry[]> => {
  const read = async (): Promise<readonly HistoryEntry[]> => {
    const position = (await ports.snapshots.get(key))?.position;
    const isShort = (position?.rev ?? 0) <= limits.runSearchCommits;
    const from = isShort ? after : Math.max(after, (position?.window[0] ?? 1) - 1);
    const history = new RunHistory();
    for await (const commit of ports.events.read(key, { after: from })) history.take(commit);
    return history.entries;
  };
  return replays.during(actor, () => orQuarantined(read()));
};
