import type { LogEntry } from '../../../shared/client/main.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { generationWords } from '../parts/reset-words.ts';

interface Place {
  readonly id: string;
  readonly seq: number;
  readonly at: number;
}
/** One event, as a line of the transcript. */
export interface EventRow extends Place {
  readonly kind: 'line';
  /** The commit's number in the session. */
  readonly rev: number;
  readonly event: SessionEvent;
  readonly actor: string;
  /** Time since the commit before, ms; 0 within a commit. */
  readonly sinceMs: number;
  /** Of the result of a call: how long the call ran, ms. */
  readonly tookMs?: number | undefined;
}
/** Stands above the first line of a generation. */
export interface GenerationRow extends Place {
  readonly kind: 'heading';
  readonly generation: number;
  /** Why it began. */
  readonly words: string;
}

/** The events of a session, line by line, with a heading for each generation. */
export const transcriptRows = (commits: readonly LogEntry[]): (EventRow | GenerationRow)[] => {
  let last = commits[0]?.at ?? 0;
  /** When the calls began that have no result yet. */
  const started = new Map<string, number>();
  const tookMs = (event: SessionEvent, at: number): number | undefined => {
    if (event.type === 'tool_call_started') started.set(event.callId, at);
    if (event.type !== 'tool_result') return undefined;
    const began = started.get(event.callId);
    started.delete(event.callId);
    return began === undefined ? undefined : at - began;
  };
  return commits.flatMap(({ seq, rev, at, actor, events }) => {
    const sinceMs = at - last;
    last = at;
    return events.flatMap((event, index): (EventRow | GenerationRow)[] => {
      const place = { id: `${seq}.${index}`, seq, at };
      const since = index === 0 ? sinceMs : 0;
      const line: EventRow = { kind: 'line', ...place, rev, event, actor, sinceMs: since, tookMs: tookMs(event, at) };
      if (event.type !== 'session_opened' && event.type !== 'session_reset') return [line];
      const { generation } = event;
      return [{ kind: 'heading', ...place, id: `generation ${generation}`, generation, words: generationWords(event) }, line];
    });
  });
};

/** Where the lines of the commit begin that an address names, or of the last one before it; `null`: it names none of these. */
export const rowAt = (rows: readonly (EventRow | GenerationRow)[], seq: number): number | null => {
  const last = rows.findLast((row) => row.seq <= seq);
  if (last === undefined || (last === rows.at(-1) && last.seq < seq)) return null;
  return rows.findIndex((row) => row.kind === 'line' && row.seq === last.seq);
};
