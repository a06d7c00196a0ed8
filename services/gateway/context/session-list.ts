import { channelOfNamespace } from '../../../shared/domain/access/access.ts';
import { bareKey, type SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { type IndexRow, pendingIn } from '../../../shared/domain/projections/index-row.ts';
import type { ListKind } from '../../../shared/domain/projections/schemas.ts';
import { listFactsOf } from '../../../shared/domain/projections/session-row.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionStatus } from '../../../shared/domain/session/fold/machine.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import { HealthProblem } from '../../../shared/kit/health-problem.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import type { IndexView, RowPlace, SessionIndex } from '../../../shared/ports/session-index.ts';
import { rowNow } from '../../../shared/runtime/session-tools/row-now.ts';
import { wantsKey } from '../http/cursor.ts';

const retryMs = 500;

export interface ListOptions {
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Only rows updated at or after this time, ms. */
  readonly since?: number | undefined;
  /** Default: all but `inactive` (A5/63). */
  readonly status?: SessionStatus | 'all' | undefined;
  /** Only those with a pending approval, whether or not a turn waits for it. */
  readonly asks?: boolean;
  readonly kinds?: readonly ListKind[] | undefined;
  /** As rows show it (A10/105). */
  readonly channel?: string | undefined;
  /** Whole segments of the key's beginning. */
  readonly keyPrefix?: string | undefined;
  /** Only rows whose key, name, description or last message has this text, whatever its case. */
  readonly search?: string | undefined;
  /** Only rows with this label. */
  readonly label?: string | undefined;
  /** Only pinned rows, or only others. */
  readonly pinned?: boolean | undefined;
  /** Only rows whose last turn failed, or only others. */
  readonly failed?: boolean | undefined;
  /** Also the session `global`, for callers that show it by another name (A3/40). */
  readonly withGlobal?: boolean;
  readonly reach: Reach;
}
/** What the caller may see (A8/89), with hints that save looking at all other rows. */
export interface Reach {
  readonly sees: (row: IndexRow) => boolean;
  /** Visible rows have one of these participants, as stored. */
  readonly participants?: readonly string[] | undefined;
  /** Visible rows are in this namespace. */
  readonly namespace?: string | undefined;
}

export interface SessionPage {
  readonly rows: readonly IndexRow[];
  readonly nextCursor: string | null;
}

export interface SessionCounts {
  readonly sessions: Readonly<Record<SessionStatus, number>>;
  readonly approvals: { readonly pending: number; readonly oldestAt: number | null };
}

/** No participant has a space at that place: theirs begin with a channel and a colon. */
const groupOfThread = (thread: string): string => `thread ${thread}`;

const cursorOf = ({ updatedAt, key }: RowPlace): string => Buffer.from(JSON.stringify([updatedAt, key])).toString('base64url');
const placeOf = (cursor: string): RowPlace => {
  try {
    const [updatedAt, key, ...rest] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof updatedAt === 'number' && typeof key === 'string' && rest.length === 0)
      return { updatedAt, key: key as SessionKey };
  } catch {}
  throw new NatterError('invalid', 'cursor: use the "nextCursor" of the page before', { field: 'cursor' });
};

/** The facets that filters use, in one short text; empty for rows that no list shows: a key without a session, or a deleted one (C9). */
const facetOf = (row: IndexRow, mainKey: string): string => {
  if (row.deleted || row.generation === 0) return '';
  const { kind, channel, internal } = listFactsOf(row, mainKey);
  const asks = pendingIn(row).length === 0 ? '' : 'asks';
  return [asks, row.status, kind, internal ?? '', headOf(row.key), channel].join(' ');
};

/** The first segments of a key: the agent, and the channel or source. */
const headOf = (key: SessionKey): string => {
  const segments = key.split(':');
  return segments.slice(0, segments.length > 3 ? 3 : 2).join(':');
};

const wantsFacet = (facet: string, options: ListOptions): boolean => {
  const { status, asks: wantsAsking = false, kinds, channel, keyPrefix, withGlobal = false, reach } = options;
  const [asks, itsStatus, itsKind, internal, head = '', ...itsChannel] = facet.split(' ');
  if (facet === '' || (internal !== '' && !(withGlobal && internal === 'global'))) return false;
  if (wantsAsking && asks === '') return false;
  if (status === undefined ? itsStatus === 'inactive' : status !== 'all' && status !== itsStatus) return false;
  if (kinds?.every((kind) => kind !== itsKind) || (channel !== undefined && channel !== itsChannel.join(' '))) return false;
  // The head covers part of the prefix; the rest is checked for each row.
  if (keyPrefix !== undefined && !wantsKey({ keyPrefix }, head) && !wantsKey({ keyPrefix: head }, keyPrefix)) return false;
  const [agent, , first] = head.split(':');
  return reach.namespace === undefined || agent !== 'agent' || first === channelOfNamespace(reach.namespace);
};

/** Whether a row has this text, in small letters, where people look for it. The agent is in every key: only who writes a whole key means it. */
const mentions = ({ key, settings, origin, description, firstWords, lastMessagePreview }: IndexRow, search: string): boolean =>
  [
    search.startsWith('agent:') ? key : bareKey(key),
    ...[settings.displayName, origin.label, origin.displayName, description, firstWords, lastMessagePreview],
  ].some((text) => text?.toLowerCase().includes(search));

/** Whether a row is where people have put what is asked for (B24), and ended as is asked for. */
const isSorted = ({ settings, failedLastRun = false }: IndexRow, { label, pinned, failed }: ListOptions): boolean =>
  (label === undefined || settings.labels?.includes(label) === true) &&
  (pinned === undefined || pinned === (settings.pinned ?? false)) &&
  (failed === undefined || failed === failedLastRun);

/** The session index in this gateway's memory (A1, A2/17). It is a projection: where an answer must be exact, the log is read. */
export class SessionList {
  readonly #events: EventLog;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  readonly #opening: Promise<void>;
  #view: IndexView | null = null;
  #problem = 'not loaded yet';

  constructor(ports: { events: EventLog; index: SessionIndex; clock: Clock }, mainKey: string) {
    this.#events = ports.events;
    this.#clock = ports.clock;
    this.#opening = this.#open(ports.index, ports.clock, mainKey);
  }

  problems(): readonly HealthProblem[] {
    return this.#view === null ? [new HealthProblem('starting', `session index: ${this.#problem}`)] : [];
  }

  /** This commit was read: lists show it at once, before the index has it. */
  take(commit: RecordedCommit): void {
    this.#view?.take(commit);
  }

  /** The row in the index, which may be a second old. */
  peek(key: SessionKey): IndexRow | undefined {
    return this.#view?.get(key);
  }

  /** The session's row as of now. `null`: no such session, or it is deleted (C9). Throws as `row`. */
  async get(key: SessionKey): Promise<IndexRow | null> {
    const row = await this.row(key);
    return row?.deleted ? null : row;
  }

  /**
   * The key's current row, even of a deleted session: that of the index, brought up to date from the log. Throws `NatterError('unavailable')`
   * if this replica has less of the log than its leader: an old row must not pass for the current one.
   */
  row(key: SessionKey): Promise<IndexRow | null> {
    return rowNow({ events: this.#events, clock: this.#clock }, key, this.peek(key) ?? null);
  }

  /** A page of rows, newest first. Throws `NatterError('unavailable')` before the index is loaded, `'invalid'` on a wrong cursor. */
  list(options: ListOptions): SessionPage {
    if (this.#view === null) throw new NatterError('unavailable', `session index: ${this.#problem}`);
    const { limit, cursor, since = 0, keyPrefix, reach } = options;
    const after = cursor === undefined ? undefined : placeOf(cursor);
    const rows: IndexRow[] = [];
    const facet = (text: string) => wantsFacet(text, options);
    const search = options.search?.toLowerCase();
    for (const row of this.#view.newestFirst({ after, facet, groups: reach.participants })) {
      if (row.updatedAt < since) break;
      if (!wantsKey({ keyPrefix }, row.key) || !isSorted(row, options) || !reach.sees(row)) continue;
      if (search !== undefined && !mentions(row, search)) continue;
      const last = rows.at(-1);
      if (rows.length === limit && last) return { rows, nextCursor: cursorOf(last) };
      rows.push(row);
    }
    return { rows, nextCursor: null };
  }

  /** The session in which this approval is pending (A5/62). */
  awaiting(approvalId: string): SessionKey | undefined {
    for (const row of this.allAwaiting()) if (pendingIn(row).some((open) => open.approvalId === approvalId)) return row.key;
    return undefined;
  }

  /** The sessions whose last message was this one of a program's conversation, newest first. Read it in one go. */
  inThread(thread: string): IndexRow[] {
    const rows = this.#view?.newestFirst({ groups: [groupOfThread(thread)], facet: (text) => text !== '' }) ?? [];
    return [...rows].filter((row) => row.thread === thread);
  }

  /** The sessions with a pending approval. Read it in one go. */
  allAwaiting(): Iterable<IndexRow> {
    return this.#view?.newestFirst({ facet: (text) => text.startsWith('asks ') }) ?? [];
  }

  /** All rows. Read it in one go. */
  rows(): Iterable<IndexRow> {
    if (this.#view === null) throw new NatterError('unavailable', `session index: ${this.#problem}`);
    return this.#view.rows();
  }

  /** Sessions by status, the number of pending approvals, and the age of the oldest one. */
  counts(): SessionCounts {
    const sessions = { idle: 0, running: 0, awaiting_approval: 0, awaiting_results: 0, inactive: 0 };
    let [pending, oldestAt]: [number, number | null] = [0, null];
    for (const row of this.#view?.rows() ?? []) {
      if (row.deleted || row.generation === 0) continue;
      sessions[row.status] += 1;
      for (const { requestedAt } of pendingIn(row)) {
        pending += 1;
        oldestAt = Math.min(oldestAt ?? requestedAt, requestedAt);
      }
    }
    return { sessions, approvals: { pending, oldestAt } };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opening;
    await this.#view?.close();
  }

  async #open(index: SessionIndex, clock: Clock, mainKey: string): Promise<void> {
    const { signal } = this.#closing;
    while (this.#view === null && !signal.aborted) {
      try {
        this.#view = await index.watch({
          facetOf: (row) => facetOf(row, mainKey),
          groupsOf: ({ participants, thread }) =>
            thread === undefined ? participants : [...participants, groupOfThread(thread)],
        });
      } catch (error) {
        this.#problem = errorMessage(error);
        await clock.sleep(retryMs, signal);
      }
    }
  }
}
