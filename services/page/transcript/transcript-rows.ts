import type { LogEntry } from '../../../shared/client/main.ts';
import type { EventOf, SessionEvent } from '../../../shared/domain/session/events.ts';
import { type LeftBehind, leaverOf, leftAfter } from '../past/left-behind.ts';

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
  /** The first line of its commit says who recorded it: those below it are by the same. */
  readonly isFirst: boolean;
  /** The host that wrote it, where it is known. */
  readonly host: string | undefined;
  /** Time since the commit before, ms; 0 within a commit. */
  readonly sinceMs: number;
  /** Of the result of a call: how long the call ran, ms. */
  readonly tookMs?: number | undefined;
  /** What left it behind, in words, and when. */
  readonly left?: { readonly by: string; readonly at: number } | undefined;
}
/** Stands above the first line of a generation. */
export interface GenerationRow extends Place {
  readonly kind: 'heading';
  /** The event that it begins with, and who recorded that. */
  readonly event: EventOf<'session_opened' | 'session_reset'>;
  readonly actor: string;
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
  const bySeq = new Map(commits.map((commit) => [commit.seq, commit]));
  const left = commits.reduce<LeftBehind>((before, commit) => leftAfter(before, commit, commits), new Map());
  const leftOf = (seq: number): EventRow['left'] => {
    const leaver = bySeq.get(left.get(seq) ?? 0);
    return leaver && { by: leaverOf(leaver), at: leaver.at };
  };
  return commits.flatMap(({ seq, rev, at, actor, host, events }) => {
    const sinceMs = at - last;
    last = at;
    return events.flatMap((event, index): (EventRow | GenerationRow)[] => {
      const place = { id: `${seq}.${index}`, seq, at };
      const since = index === 0 ? sinceMs : 0;
      const more = { isFirst: index === 0, tookMs: tookMs(event, at), left: leftOf(seq) };
      const line: EventRow = { kind: 'line', ...place, rev, event, actor, host, sinceMs: since, ...more };
      if (event.type !== 'session_opened' && event.type !== 'session_reset') return [line];
      return [{ kind: 'heading', ...place, id: `generation ${event.generation}`, event, actor }, line];
    });
  });
};

/** Where the lines of the commit begin that an address names, or of the last one before it; `null`: it names none of these. */
export const rowAt = (rows: readonly (EventRow | GenerationRow)[], seq: number): number | null => {
  const last = rows.findLast((row) => row.seq <= seq);
  if (last === undefined || (last === rows.at(-1) && last.seq < seq)) return null;
  return rows.findIndex((row) => row.kind === 'line' && row.seq === last.seq);
};
