import { messageOf, NatterError } from '../../shared/kit/errors.ts';
import type { Clock, EventLog, IndexView, SessionIndex } from '../../shared/ports.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import type { SessionStatus } from '../../shared/session/machine.ts';
import { type IndexRow, summarize } from '../../shared/session/summary.ts';
import { readable } from './history.ts';

const retryMs = 500;
/** Keys of our own that no list shows (A3/40). */
const internalKeys: ReadonlySet<string> = new Set(['global', 'unknown']);

export interface ListOptions {
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Only rows updated at or after this time, ms. */
  readonly since?: number | undefined;
  /** Default: all but `inactive` (A5/63). */
  readonly status?: SessionStatus | 'all' | undefined;
}

/** Newest first; the key decides between equals, so that a cursor is exact. */
type Place = Pick<IndexRow, 'updatedAt' | 'key'>;
const order = (a: Place, b: Place): number => b.updatedAt - a.updatedAt || Number(a.key > b.key) - Number(a.key < b.key);

const cursorOf = ({ updatedAt, key }: Place): string => Buffer.from(JSON.stringify([updatedAt, key])).toString('base64url');
const placeOf = (cursor: string): Place => {
  try {
    const [updatedAt, key, ...rest] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof updatedAt === 'number' && typeof key === 'string' && rest.length === 0)
      return { updatedAt, key: key as SessionKey };
  } catch {}
  throw new NatterError('invalid', 'cursor: use the "nextCursor" of the page before', { field: 'cursor' });
};

/** The session index as this gateway has it in memory (A1, A2/17). A projection: the log is asked where it must be exact. */
export class SessionList {
  readonly #events: EventLog;
  readonly #closing = new AbortController();
  readonly #opening: Promise<void>;
  #view: IndexView | null = null;
  #problem = 'not loaded yet';

  constructor(ports: { events: EventLog; index: SessionIndex; clock: Clock }) {
    this.#events = ports.events;
    this.#opening = this.#open(ports.index, ports.clock);
  }

  problems(): readonly string[] {
    return this.#view === null ? [`session index: ${this.#problem}`] : [];
  }

  /** The row as the index has it: may be a second old. */
  peek(key: SessionKey): IndexRow | undefined {
    return this.#view?.get(key);
  }

  /** The row as of now: the index's, brought up to date from the log. `null`: no such session. */
  async get(key: SessionKey): Promise<IndexRow | null> {
    let row = this.peek(key) ?? null;
    const tail = async () => {
      for await (const commit of this.#events.read(key, { after: row?.seq ?? 0 })) row = summarize(row, commit);
    };
    await readable(tail());
    return row;
  }

  /** A page of rows, newest first. Throws `NatterError('unavailable')` before the index is loaded, `'invalid'` on a wrong cursor. */
  list({ limit, cursor, since, status }: ListOptions): { rows: IndexRow[]; nextCursor: string | null } {
    if (this.#view === null) throw new NatterError('unavailable', `session index: ${this.#problem}`);
    const place = cursor === undefined ? null : placeOf(cursor);
    const wanted = (row: IndexRow): boolean =>
      !internalKeys.has(row.key) &&
      (status === undefined ? row.status !== 'inactive' : status === 'all' || row.status === status) &&
      (since === undefined || row.updatedAt >= since) &&
      (place === null || order(row, place) > 0);
    const rows = [...this.#view.rows()].filter(wanted).sort(order);
    const last = rows[limit - 1];
    return { rows: rows.slice(0, limit), nextCursor: rows.length > limit && last ? cursorOf(last) : null };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opening;
    await this.#view?.close();
  }

  async #open(index: SessionIndex, clock: Clock): Promise<void> {
    const { signal } = this.#closing;
    while (this.#view === null && !signal.aborted) {
      try {
        this.#view = await index.watch();
      } catch (error) {
        this.#problem = messageOf(error);
        await clock.sleep(retryMs, signal);
      }
    }
  }
}
