import { type CallOptions, type Http, sessionPath } from './http.ts';
import { newId } from './pause.ts';
import type {
  BegunRun,
  CheckpointTaken,
  Cursor,
  Diff,
  Forked,
  LogEntry,
  Message,
  NewMessage,
  Patched,
  Session,
  SessionRow,
  SettingsChange,
  State,
  Taken,
} from './types.ts';

/** Of a call that only reads. */
export type ReadOptions = Pick<CallOptions, 'timeoutMs' | 'patienceMs' | 'signal'>;
/** Of a call that writes: it is made again when the gateway is away, and takes effect once. */
export interface WriteOptions extends ReadOptions {
  /** The same key for the same session is the same run, on any replica. Default: one of its own. */
  readonly idempotencyKey?: string;
  /** Only if nothing was recorded since this sequence, which its row has as `seq`. 0: only if it is not there; `*`: only if it is. */
  readonly ifMatch?: number | '*';
}
/** Of a call that begins a run: `wait` is for how many seconds (to 120) the answer may wait for its end. */
export interface RunOptions extends WriteOptions {
  readonly wait?: number | undefined;
}
export interface ListOptions extends ReadOptions {
  readonly activeMinutes?: number | undefined;
  readonly status?: 'idle' | 'running' | 'awaiting_approval' | 'inactive' | 'all' | undefined;
}
export interface PageOptions extends ReadOptions {
  /** Begins after this place. Default: at the beginning. */
  readonly after?: Cursor | undefined;
}

const pageRows = 500;
/** What a call may take longer than the wait that it asks for. */
const overheadMs = 10_000;

/** What a writing call is made with. */
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

/** All rows of a list, read page by page as they are asked for. */
export async function* listed<T>(http: Http, path: string, name: string, query: object, options: ReadOptions): AsyncGenerator<T> {
  for (let cursor: string | undefined; ; ) {
    const page = await http.call<Record<string, T[]> & { nextCursor: string | null }>('GET', path, undefined, {
      ...options,
      query: { limit: pageRows, cursor, ...query },
    });
    yield* page[name] ?? [];
    if (!page.nextCursor) return;
    cursor = page.nextCursor;
  }
}

/** All items of a history after a place, oldest first, to the end there is now. */
async function* paged<T>(http: Http, path: string, name: string, { after = 0, ...options }: PageOptions): AsyncGenerator<T> {
  for (let position = after; ; ) {
    const page = await http.call<Record<string, T[]> & { next: Cursor; more: boolean }>('GET', path, undefined, {
      ...options,
      query: { after: position, limit: pageRows },
    });
    yield* page[name] ?? [];
    if (!page.more || page.next === position) return;
    position = page.next;
  }
}

/** `/v1/sessions`: what is recorded, and what can be asked of a session. */
export const createSessions = (http: Http) => {
  const read = <T>(key: string, rest: string, query: CallOptions['query'], options: ReadOptions = {}): Promise<T> =>
    http.call<T>('GET', sessionPath(key, rest), undefined, { ...options, ...(query && { query }) });
  const command =
    (name: string) =>
    (key: string, { reason, ...options }: WriteOptions & { readonly reason?: string } = {}): Promise<Taken> =>
      http.call('POST', sessionPath(key, name), { ...(reason !== undefined && { reason }) }, writing(options));
  const say = (key: string, body: object, options: RunOptions): Promise<BegunRun> =>
    http.call('POST', sessionPath(key, '/messages'), body, beginning(options));
  const bodyOf = (message: string | NewMessage): NewMessage => (typeof message === 'string' ? { text: message } : message);

  return {
    /** All sessions, the one updated last first. */
    list: ({ activeMinutes, status, ...options }: ListOptions = {}): AsyncGenerator<SessionRow> =>
      listed(http, '/v1/sessions', 'sessions', { activeMinutes, status }, options),
    get: (key: string, options?: ReadOptions) => read<Session>(key, '', undefined, options),
    /** `null` unsets a setting; one that is left out stays. */
    patch: (key: string, changes: SettingsChange, options: WriteOptions = {}): Promise<Patched> =>
      http.call('PATCH', sessionPath(key), changes, writing(options)),
    messages: (key: string, options: PageOptions = {}): AsyncGenerator<Message> =>
      paged(http, sessionPath(key, '/messages'), 'messages', options),
    /** Its log as it is stored, commit by commit: to keep, to fold again, or to make transcripts of. */
    export: (key: string, options: PageOptions = {}): AsyncGenerator<LogEntry> =>
      paged(http, sessionPath(key, '/commits'), 'commits', options),
    /** Says something that asks for an answer. Without `wait` the run has only begun. */
    post: (key: string, message: string | NewMessage, options: RunOptions = {}) => say(key, bodyOf(message), options),
    /** Has something remembered that asks for none. */
    append: (key: string, message: string | NewMessage, options: RunOptions = {}) =>
      say(key, { ...bodyOf(message), mode: 'append' }, options),
    /** Creates the session, or makes an inactive one visible. */
    open: (key: string, options: WriteOptions = {}) => command('/open')(key, options),
    /** Ends the running turn and clears the queue. */
    stop: command('/stop'),
    /** Begins a new generation under the same key. */
    reset: command('/reset'),
    /** Has a summary stand for what was said so far. */
    compact: (
      key: string,
      { instructions, ...options }: RunOptions & { readonly instructions?: string | undefined } = {},
    ): Promise<BegunRun> => {
      const body = instructions === undefined ? {} : { instructions };
      return http.call('POST', sessionPath(key, '/compact'), body, beginning(options));
    },
    /** Has what was said since the last time looked back on. */
    checkpoint: (key: string, options: WriteOptions = {}): Promise<CheckpointTaken> =>
      http.call('POST', sessionPath(key, '/checkpoint'), {}, writing(options)),
    /** Lets the session go on from an earlier point: a sequence or an ISO time. Default: from where it stands. */
    fork: (key: string, { at, ...options }: WriteOptions & { readonly at?: Cursor | undefined } = {}): Promise<Forked> =>
      http.call('POST', sessionPath(key, '/fork'), forkPlace(at), writing(options)),
    /** Hides the session; its next message begins anew. `mode: 'key'`: any key, at any time; the owner's. */
    delete: (key: string, { mode, ...options }: WriteOptions & { readonly mode?: 'session' | 'key' } = {}): Promise<Taken> =>
      http.call('DELETE', sessionPath(key), undefined, { ...writing(options), query: { mode } }),
    /** Its state, now or at a sequence or an ISO time. */
    state: (key: string, { at, ...options }: ReadOptions & { readonly at?: Cursor | undefined } = {}) =>
      read<State>(key, '/state', { at }, options),
    /** What became of it between two sequences or ISO times. Default: to now. */
    diff: (
      key: string,
      {
        from,
        to,
        limit,
        ...options
      }: ReadOptions & { readonly from: Cursor; readonly to?: Cursor | undefined; readonly limit?: number },
    ) => read<Diff>(key, '/diff', { from, to, limit }, options),
  };
};
