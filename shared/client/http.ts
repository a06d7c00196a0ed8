import { wholeBytesOf, wholeTextOf } from './body.ts';
import { isTransient, NatterApiError, problemIn, unreachable } from './errors.ts';
import { Limit, unlessAborted } from './limit.ts';
import { pause, retryMs } from './pause.ts';

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** Options of one call. */
export interface CallOptions {
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  /** Time limit of one attempt. Default 15 s. */
  readonly timeoutMs?: number | undefined;
  /** How long to retry while the gateway is down or answers "later". Default: the client's. */
  readonly patienceMs?: number | undefined;
  /**
   * True if the call takes effect only once, however often it is sent. Default: true for GETs and calls with an Idempotency-Key.
   * Other calls are not retried.
   */
  readonly repeatable?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpOptions {
  /** The gateway's address, such as `http://127.0.0.1:4600`. */
  readonly url: string;
  /** An access token, or a function that returns one. It is called for each request, so that the token can be renewed. */
  readonly token: string | (() => string | Promise<string>);
  readonly fetch?: typeof fetch;
  /** How long repeatable calls are retried unless the call sets its own time. Default 10 s. */
  readonly patienceMs?: number;
}

export interface Http {
  readonly url: string;
  readonly patienceMs: number;
  token(): Promise<string>;
  /** Makes a call and resolves with its JSON answer. Throws `NatterApiError`, or the signal's reason. */
  call<T>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<T>;
  /** The same for a `GET` whose answer is a file. */
  download(path: string, options?: CallOptions): Promise<Uint8Array>;
  /** Makes one attempt. Resolves once the headers of a successful response have arrived. */
  open(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>;
}

const defaultTimeoutMs = 15_000;
const defaultPatienceMs = 10_000;

/** Adds a query to a path or extends its query: lists are repeated, booleans become `1` and `0`, `undefined` is left out. */
export const withQuery = (path: string, query: Query = {}): string => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value ?? []].flat()) parameters.append(name, typeof one === 'boolean' ? (one ? '1' : '0') : String(one));
  const text = String(parameters);
  return text === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${text}`;
};

/** Matches a path with a segment that is empty, `.` or `..`: a URL drops it and then means another address. */
const lostName = /^[^?]*(?:\/\.{1,2}(?:[/?]|$)|\/\/|[^?]\/(?:\?|$))/;

/** The path of a session, with its key as one segment. */
export const sessionPath = (key: string, rest = ''): string => `/v1/sessions/${encodeURIComponent(key)}${rest}`;

/** A request, and how its answer is read. */
interface Exchange<T> {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  read(response: Response, signal: AbortSignal): Promise<T>;
}

const jsonIn = async <T>(response: Response, signal: AbortSignal): Promise<T> => {
  const text = await wholeTextOf(response, signal);
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new NatterApiError(response.status, { detail: 'the answer is not JSON; is this the address of a Natter gateway?' });
  }
};

/** HTTP calls to the gateway. */
export const createHttp = (options: HttpOptions): Http => {
  const url = options.url.replace(/\/+$/, '');
  const { patienceMs = defaultPatienceMs } = options;
  const tokenGiven = async (): Promise<string> => {
    if (typeof options.token === 'string') return options.token;
    try {
      return await options.token();
    } catch (cause) {
      // `fetch` throws this without a network: the source of the token is down, just as the gateway may be.
      throw cause instanceof TypeError ? unreachable('where the token comes from', cause) : cause;
    }
  };
  // A token read from a file ends with a line break.
  const token = async (): Promise<string> => {
    const given = (await tokenGiven()).trim();
    if (!/^[ -~]*$/.test(given))
      throw new NatterApiError(0, { code: 'invalid', detail: 'this is no token: it has characters that none has' });
    return given;
  };

  const request = async (path: string, { headers: given, ...init }: RequestInit & { readonly signal: AbortSignal }) => {
    if (lostName.test(path)) throw new NatterApiError(0, { code: 'invalid', detail: `${path} has a part that names nothing` });
    const headers = new Headers(given);
    headers.set('authorization', `Bearer ${await token()}`);
    const address = `${url}${path}`;
    if (!/^https?:/.test(new Request(address, { headers }).url)) throw new TypeError(`${url} is no http: or https: address`);
    try {
      // Following a redirect would send the token to another server.
      return await (options.fetch ?? fetch)(address, { ...init, headers, redirect: 'manual' });
    } catch (cause) {
      throw unreachable(url, cause);
    }
  };

  const open = async (path: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response> => {
    const response = await request(path, init);
    if (!response.ok) throw problemIn(response, await wholeTextOf(response, init.signal).catch(() => ''));
    return response;
  };

  const attempt = async <T>({ method, path, body, read }: Exchange<T>, given: CallOptions): Promise<T> => {
    const limitMs = given.timeoutMs ?? defaultTimeoutMs;
    const detail = `no answer from ${url} within ${limitMs / 1_000} s`;
    const limit = new Limit(limitMs, () => new NatterApiError(0, { code: 'timeout', detail }), given.signal);
    const { signal } = limit;
    const headers = new Headers(given.headers);
    if (!headers.has('accept')) headers.set('accept', 'application/json');
    if (body !== undefined) headers.set('content-type', 'application/json');
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      const exchanged = open(withQuery(path, given.query), { method, headers, signal, ...payload });
      return await unlessAborted(
        exchanged.then((response) => read(response, signal)),
        signal,
      );
    } finally {
      limit.end();
    }
  };

  const exchange = async <T>(asked: Exchange<T>, given: CallOptions = {}): Promise<T> => {
    const { repeatable = asked.method === 'GET' || new Headers(given.headers).has('idempotency-key') } = given;
    const giveUpAt = performance.now() + (repeatable ? (given.patienceMs ?? patienceMs) : 0);
    for (let failures = 0; ; failures++) {
      try {
        return await attempt(asked, given);
      } catch (error) {
        const waitMs = Math.max(retryMs(failures), isTransient(error) ? (error.retryAfterMs ?? 0) : 0);
        if (!isTransient(error) || performance.now() + waitMs > giveUpAt) throw error;
        await pause(waitMs, given.signal);
        given.signal?.throwIfAborted();
      }
    }
  };

  return {
    ...{ url, patienceMs, token },
    call: <T>(method: string, path: string, body?: unknown, given?: CallOptions) =>
      exchange<T>({ method, path, body, read: jsonIn }, given),
    download: (path, given) => exchange({ method: 'GET', path, read: wholeBytesOf }, { ...given, headers: { accept: '*/*' } }),
    open: (path, headers, signal) => unlessAborted(open(path, { headers, signal }), signal),
  };
};
