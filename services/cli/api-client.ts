import { setTimeout as delay } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { messageOf } from '../../shared/kit/errors.ts';

/** The gateway said no, or nobody answered. `code` is the problem's (`docs/http-api.md`); `unreachable` is ours: no answer came. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: string;
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(
    code: string,
    status: number,
    message: string,
    options: { retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

interface CallOptions {
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long one attempt may take. Default 15 s. */
  readonly timeoutMs?: number;
  /** How long to go on trying while the gateway is away or says "later". Only for calls that may be repeated. Default 0. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
}

export interface ApiClient {
  readonly url: string;
  get<T>(path: string, options?: CallOptions): Promise<T>;
  post<T>(path: string, body: unknown, options?: CallOptions): Promise<T>;
  delete<T>(path: string, options?: CallOptions): Promise<T>;
  /**
   * Follows an event stream until the signal aborts. Reconnects by itself where it left off (`Last-Event-ID`); `waiting` is told why it
   * has to. Throws `ApiError` only for what a new attempt cannot mend.
   */
  stream(
    path: string,
    options: { query?: Query; signal: AbortSignal; waiting?: (reason: string) => void },
  ): AsyncGenerator<EventSourceMessage>;
}

const timeoutMs = 15_000;
/** The gateway pings every 15 s: a stream that is silent for longer than this has lost its other end. */
const silentMs = 45_000;
const reconnectMs = { least: 250, most: 5_000 };

const isTransient = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.code === 'unreachable' || error.status === 429 || error.status === 503);

const withQuery = (path: string, query: Query = {}): string => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value ?? []].flat()) parameters.append(name, typeof one === 'boolean' ? (one ? '1' : '0') : String(one));
  return parameters.size === 0 ? path : `${path}?${parameters}`;
};

/** The path of a session, with its key as one segment. */
export const sessionPath = (key: string, rest = ''): string => `/v1/sessions/${encodeURIComponent(key)}${rest}`;

/** Throws the problem that a response carries. */
const raise = async (response: Response): Promise<never> => {
  const text = await response.text().catch(() => '');
  const problem = parsed(text);
  const retryAfter = Number(response.headers.get('retry-after'));
  const retryAfterMs = problem.retryAfterMs ?? (retryAfter > 0 ? retryAfter * 1_000 : undefined);
  const advice =
    response.status === 401 ? '; give the token with NATTER_TOKEN or --token, or use the data directory of "natter up"' : '';
  const message =
    problem.detail ?? problem.problems?.join('; ') ?? `the gateway answered ${response.status} ${response.statusText}`;
  throw new ApiError(problem.code ?? 'unexpected', response.status, `${message}${advice}`, { retryAfterMs });
};
const parsed = (text: string): { code?: string; detail?: string; problems?: string[]; retryAfterMs?: number } => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
};

/** The one way from a command to the gateway (A1). */
export const createClient = (options: { url: string; token: string }): ApiClient => {
  const url = options.url.replace(/\/+$/, '');

  const call = async (
    method: string,
    path: string,
    init: { body?: string; headers?: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ) => {
    try {
      const headers = { authorization: `Bearer ${options.token}`, ...init.headers };
      // A redirect would take the token to another place.
      return await fetch(`${url}${path}`, { method, headers, body: init.body ?? null, redirect: 'error', signal });
    } catch (cause) {
      const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : messageOf(cause);
      throw new ApiError('unreachable', 0, `no answer from ${url} (${reason || 'connection refused'}); is "natter up" running?`, {
        cause,
      });
    }
  };

  const once = async <T>(method: string, path: string, body: unknown, given: CallOptions): Promise<T> => {
    const limit = AbortSignal.timeout(given.timeoutMs ?? timeoutMs);
    const signal = given.signal ? AbortSignal.any([given.signal, limit]) : limit;
    const headers: Record<string, string> = { accept: 'application/json', ...given.headers };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const init = { headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const response = await call(method, withQuery(path, given.query), init, signal);
    return response.ok ? ((await response.json()) as T) : raise(response);
  };

  const request = async <T>(method: string, path: string, body: unknown, given: CallOptions = {}): Promise<T> => {
    const giveUpAt = performance.now() + (given.patienceMs ?? 0);
    for (let attempt = 0; ; attempt++) {
      try {
        return await once<T>(method, path, body, given);
      } catch (error) {
        const waitMs = (isTransient(error) && error.retryAfterMs) || Math.min(reconnectMs.most, reconnectMs.least * 2 ** attempt);
        if (!isTransient(error) || given.signal?.aborted || performance.now() + waitMs > giveUpAt) throw error;
        await delay(waitMs, undefined, given.signal ? { signal: given.signal } : {});
      }
    }
  };

  async function* connection(
    path: string,
    lastEventId: string | null,
    signal: AbortSignal,
    placed: (id: string | undefined) => void,
  ): AsyncGenerator<EventSourceMessage> {
    const headers = { accept: 'text/event-stream', ...(lastEventId !== null && { 'last-event-id': lastEventId }) };
    const response = await call('GET', path, { headers }, signal);
    if (!response.ok || response.body === null) return raise(response);
    const messages: EventSourceMessage[] = [];
    const parser = createParser({
      onEvent: (message) => messages.push(message),
      // The gateway begins a stream with the place it starts after; the parser hands out an id only with an event.
      onComment: (comment) => placed(/^\s*after (\S+)/.exec(comment)?.[1]),
    });
    const decoder = new TextDecoder();
    const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
    // Node 20's fetch holds its signal weakly and may forget it during a long body, so the body is ended here as well.
    const cut = (): void => void reader.cancel().catch(() => {});
    const silence = setTimeout(cut, silentMs);
    signal.addEventListener('abort', cut);
    if (signal.aborted) cut();
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        silence.refresh();
        parser.feed(decoder.decode(part.value, { stream: true }));
        yield* messages.splice(0);
      }
    } finally {
      clearTimeout(silence);
      signal.removeEventListener('abort', cut);
      cut();
    }
  }

  async function* stream(
    path: string,
    { query, signal, waiting }: { query?: Query; signal: AbortSignal; waiting?: (reason: string) => void },
  ): AsyncGenerator<EventSourceMessage> {
    let lastEventId: string | null = null;
    const placed = (id: string | undefined): void => {
      lastEventId = id ?? lastEventId;
    };
    for (let failures = 0; !signal.aborted; failures++) {
      let reason = 'the stream ended';
      try {
        for await (const message of connection(withQuery(path, query), lastEventId, signal, placed)) {
          placed(message.id);
          failures = 0;
          yield message;
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiError && !isTransient(error)) throw error;
        reason = messageOf(error);
      }
      waiting?.(reason);
      await delay(Math.min(reconnectMs.most, reconnectMs.least * 2 ** failures), undefined, { signal }).catch(() => {});
    }
  }

  return {
    url,
    get: (path, given) => request('GET', path, undefined, given),
    post: (path, body, given) => request('POST', path, body, given),
    delete: (path, given) => request('DELETE', path, undefined, given),
    stream,
  };
};
