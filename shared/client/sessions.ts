import type { CallOptions, Http } from './http.ts';
import { type OperationsOf, operationAt } from './operation-at.ts';
import { newId } from './pause.ts';
import type {
  BegunRun,
  CheckpointTaken,
  Cursor,
  Diff,
  Forked,
  FoundMessages,
  LogEntry,
  Message,
  NewMessage,
  Patched,
  Session,
  SessionRow,
  SettingsChange,
  State,
  StoredLogEntry,
  Taken,
} from './types.ts';

/** Options of a call that only reads. */
export type ReadOptions = Pick<CallOptions, 'timeoutMs' | 'patienceMs' | 'signal'>;
/** Options of a call that writes. It is retried while the gateway is down, and takes effect once. */
export interface WriteOptions extends ReadOptions {
  /** Calls with the same key for the same session are the same run, on any replica. Default: a new key. */
  readonly idempotencyKey?: string;
  /**
   * Requires that nothing was recorded since this sequence, the `seq` of the session's row. 0: the session must not exist; `*`:
   * it must.
   */
  readonly ifMatch?: number | '*';
}
/** Options of a call that starts a run. `wait` is how many seconds (up to 120) the call may wait for the run to end. */
export interface RunOptions extends WriteOptions {
  readonly wait?: number | undefined;
}
export interface ListOptions extends ReadOptions {
  readonly activeMinutes?: number | undefined;
  readonly status?: 'idle' | 'running' | 'awaiting_approval' | 'awaiting_results' | 'inactive' | 'all' | undefined;
  /** Only those with this text in their key, name, description or last message. */
  readonly search?: string | undefined;
  /** Only sessions whose key begins with these whole segments. */
  readonly keyPrefix?: string | undefined;
  readonly label?: string | undefined;
  /** Only pinned ones, or only others. */
  readonly pinned?: boolean | undefined;
  /** Only those whose last answer failed, or only others. */
  readonly failed?: boolean | undefined;
  /** Only those with a message that the caller has not seen, or only others. */
  readonly unread?: boolean | undefined;
}
export interface PageOptions extends ReadOptions {
  /** Starts after this position. Default: from the beginning. */
  readonly after?: Cursor | undefined;
}
export interface HistoryOptions extends PageOptions {
  /** Newest first, in front of this position or of the `end`. Excludes `after`. */
  readonly before?: Cursor | 'end' | undefined;
}

/** As many as the gateway gives at once. */
const pageRows = 1_000;
/** Time that a call may take in addition to its `wait`. */
const overheadMs = 10_000;

export const writing = ({ idempotencyKey = newId(), ifMatch, ...options }: WriteOptions): CallOptions => {
  const headers: Record<string, string> = { 'idempotency-key': idempotencyKey };
  if (ifMatch !== undefined) headers['if-match'] = ifMatch === '*' ? ifMatch : `"${ifMatch}"`;
  return { ...options, headers };
};
const beginning = ({ wait, ...options }: RunOptions): CallOptions => {
  if (wait === undefined) return writing(options);
  const { timeoutMs = wait * 1_000 + overheadMs } = options;
  return { ...writing(options), timeoutMs, query: { wait } };
};

const forkPlace = (at: Cursor | undefined): object => {
  if (at === undefined) return {};
  return /^\d+$/.test(String(at)) ? { atSeq: Number(at) } : { atTime: at };
};

/** All rows of a list. Pages are fetched as the reader needs them. */
export async function* listed<T>(
  http: Http,
  id: 'listSessions' | 'listApprovals',
  name: string,
  query: object,
  options: ReadOptions,
): AsyncGenerator<T> {
  for (let cursor: string | undefined; ; ) {
    const page = await http.call<Record<string, T[]> & { nextCursor: string | null }>(...operationAt(id, {}), undefined, {
      ...options,
      query: { limit: pageRows, cursor, ...query },
    });
    yield* page[name] ?? [];
    if (!page.nextCursor) return;
    cursor = page.nextCursor;
  }
}

/**
 * All items of a history: after a position, oldest first, up to its current end; or in front of one, newest first. The next page is asked for
 * while the reader is busy with one.
 */
async function* paged<T>(
  http: Http,
  id: 'readMessages' | 'readCommits' | 'readStoredCommits',
  key: string,
  name: string,
  { before, after = before === undefined ? 0 : undefined, ...options }: HistoryOptions,
): AsyncGenerator<T> {
  const direction = before === undefined ? 'after' : 'before';
  const read = (position: Cursor | undefined) =>
    http.call<Record<string, T[]> & { next: Cursor; more: boolean }>(...operationAt(id, { key }), undefined, {
      ...options,
      query: { [direction]: position, limit: pageRows },
    });
  let position = before ?? after;
  for (let coming = read(position); ; ) {
    const page = await coming;
    const [first, ...others] = page[name] ?? [];
    if (first !== undefined) yield first;
    const isLast = !page.more || page.next === position;
    if (!isLast) {
      position = page.next;
      coming = read(position);
      // Nobody waits for it if the reader stops here.
      coming.catch(() => {});
    }
    yield* others;
    if (isLast) return;
  }
}

/** The operations on one session whose only path parameter is its key. */
type SessionOperation = OperationsOf<'key'>;

/** What hands out many things. */
const readers = (http: Http) => ({
  /** All sessions, the most recently updated first. */
  list: ({ search: q, keyPrefix, label, pinned, failed, unread, activeMinutes, status, ...options }: ListOptions = {}) => {
    const filters = { activeMinutes, status, q, key: keyPrefix, label, pinned, failed, unread };
    return listed<SessionRow>(http, 'listSessions', 'sessions', filters, options);
  },
  /** What was said in all sessions with all these words, the best match first. */
  search: (words: string, { limit, ...options }: ReadOptions & { readonly limit?: number } = {}): Promise<FoundMessages> =>
    http.call(...operationAt('searchMessages', {}), undefined, { ...options, query: { q: words, limit } }),
  messages: (key: string, options: HistoryOptions = {}): AsyncGenerator<Message> =>
    paged(http, 'readMessages', key, 'messages', options),
  /** A file that came with a message, by the `digest` in its `attachments`. */
  attachment: (key: string, digest: string, options: ReadOptions = {}): Promise<Uint8Array> =>
    http.download(operationAt('readAttachment', { key, digest })[1], options),
  /** The session's log as stored, commit by commit: to archive, to fold, or to make transcripts. */
  export: (key: string, options: HistoryOptions = {}): AsyncGenerator<LogEntry> =>
    paged(http, 'readCommits', key, 'commits', options),
  /** The same as stored bytes, so that the chain of digests can be checked (`docs/integrate/exports.md`). */
  exportStored: (key: string, options: PageOptions = {}): AsyncGenerator<StoredLogEntry> =>
    paged(http, 'readStoredCommits', key, 'commits', options),
});

/** `/v1/sessions`: reading and controlling sessions. */
export const createSessions = (http: Http) => {
  const call = <T>(
    id: SessionOperation,
    key: string,
    { body, ...options }: CallOptions & { readonly body?: object },
  ): Promise<T> => http.call(...operationAt(id, { key }), body, options);
  const command =
    (id: 'stopSession' | 'resetSession' | 'deactivateSession') =>
    (key: string, { reason, ...options }: WriteOptions & { readonly reason?: string } = {}): Promise<Taken> =>
      call(id, key, { ...writing(options), body: { ...(reason !== undefined && { reason }) } });
  const say = (key: string, body: object, options: RunOptions): Promise<BegunRun> =>
    call('postMessage', key, { ...beginning(options), body });
  const bodyOf = (message: string | NewMessage): NewMessage => (typeof message === 'string' ? { text: message } : message);

  return {
    ...readers(http),
    get: (key: string, options: ReadOptions = {}) => call<Session>('readSession', key, options),
    /** Changes settings. `null` unsets one; those left out stay as they are. */
    patch: (key: string, changes: SettingsChange, options: WriteOptions = {}): Promise<Patched> =>
      call('patchSession', key, { ...writing(options), body: changes }),
    /** Posts a message that wants an answer. Without `wait` it resolves as soon as the message is accepted. */
    post: (key: string, message: string | NewMessage, options: RunOptions = {}) => say(key, bodyOf(message), options),
    /** Appends a message without a turn. */
    append: (key: string, message: string | NewMessage, options: RunOptions = {}) =>
      say(key, { ...bodyOf(message), mode: 'append' }, options),
    /** Creates the session, or makes an inactive one visible. */
    open: (key: string, options: WriteOptions = {}): Promise<Taken> =>
      call('openSession', key, { ...writing(options), body: {} }),
    /** Puts a session at rest aside: lists leave it out until it is opened or written to. */
    deactivate: command('deactivateSession'),
    /** Notes for the caller alone that they have seen the session, or with `unread` that they have not. */
    markRead: (key: string, { unread, ...options }: ReadOptions & { readonly unread?: boolean } = {}) =>
      call<{ readonly key: string; readonly unread: boolean }>('markRead', key, {
        ...{ ...options, repeatable: true },
        body: { ...(unread !== undefined && { unread }) },
      }),
    /** Ends the running turn and clears the queue. */
    stop: command('stopSession'),
    /** Starts a new generation under the same key. */
    reset: command('resetSession'),
    /** Replaces the conversation so far with a summary. */
    compact: (
      key: string,
      { instructions, ...options }: RunOptions & { readonly instructions?: string | undefined } = {},
    ): Promise<BegunRun> => {
      return call('compactSession', key, {
        ...beginning(options),
        body: { ...(instructions !== undefined && { instructions }) },
      });
    },
    /** Requests a checkpoint of what was said since the last one. */
    checkpoint: (key: string, options: WriteOptions = {}): Promise<CheckpointTaken> =>
      call('checkpointSession', key, { ...writing(options), body: {} }),
    /** Continues the session from an earlier point: a sequence or an ISO time. Default: its current state. `reason`: what for. */
    fork: (
      key: string,
      { at, reason, ...options }: WriteOptions & { readonly at?: Cursor | undefined; readonly reason?: string } = {},
    ): Promise<Forked> =>
      call('forkSession', key, { ...writing(options), body: { ...forkPlace(at), ...(reason !== undefined && { reason }) } }),
    /** Deletes the session; its next message starts a new one. `mode: 'key'`: any key, even during a turn; only for the owner. */
    delete: (key: string, { mode, ...options }: WriteOptions & { readonly mode?: 'session' | 'key' } = {}): Promise<Taken> =>
      call('deleteSession', key, { ...writing(options), query: { mode } }),
    /** The session's state, now or at a sequence or an ISO time. */
    state: (key: string, { at, ...options }: ReadOptions & { readonly at?: Cursor | undefined } = {}) =>
      call<State>('readState', key, { ...options, query: { at } }),
    /** The differences between two sequences or ISO times. `to` defaults to now. */
    diff: (
      key: string,
      {
        from,
        to,
        limit,
        ...options
      }: ReadOptions & { readonly from: Cursor; readonly to?: Cursor | undefined; readonly limit?: number },
    ) => call<Diff>('readDiff', key, { ...options, query: { from, to, limit } }),
  };
};
