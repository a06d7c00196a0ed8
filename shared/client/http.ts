import { isTransient, NatterApiError, problemIn, unreachable } from './errors.ts';
import { backoffMs, pause } from './pause.ts';

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** How one call is made. */
export interface CallOptions {
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long one attempt may take. Default 15 s. */
  readonly timeoutMs?: number | undefined;
  /** How long to go on trying while the gateway is away or says "later". Default: the client's. */
  readonly patienceMs?: number | undefined;
  /** It takes effect once, however often it is made. Default: a GET, and what has an Idempotency-Key. Nothing else is tried again. */
  readonly repeatable?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpOptions {
  /** The gateway, such as `http://127.0.0.1:4600`. */
  readonly url: string;
  /** Its token, or who knows it: asked for each call, so that it may be renewed. */
  readonly token: string | (() => string | Promise<string>);
  readonly fetch?: typeof fetch;
  /** How long calls that may be repeated are tried again unless they say themselves. Default 10 s. */
  readonly patienceMs?: number;
}

export interface Http {
  readonly url: string;
  readonly patienceMs: number;
  token(): Promise<string>;
  /** One call with its JSON answer. Throws `NatterApiError`, or the reason of the signal. */
  call<T>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<T>;
  /** One attempt; resolves once the head of a good answer is there. */
  open(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>;
}

const defaultTimeoutMs = 15_000;
const defaultPatienceMs = 10_000;

/** The path with a query: lists are repeated, flags are `1` and `0`, what is undefined is left out. */
export const withQuery = (path: string, query: Query = {}): string => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value ?? []].flat()) parameters.append(name, typeof one === 'boolean' ? (one ? '1' : '0') : String(one));
  return parameters.size === 0 ? path : `${path}?${parameters}`;
};

/** The path of a session, with its key as one segment. */
export const sessionPath = (key: string, rest = ''): string => `/v1/sessions/${encodeURIComponent(key)}${rest}`;

/** The one way to the gateway over HTTP. */
export const createHttp = (options: HttpOptions): Http => {
  const url = options.url.replace(/\/+$/, '');
  const { patienceMs = defaultPatienceMs } = options;
  const token = async (): Promise<string> => {
    if (typeof options.token === 'string') return options.token;
    try {
      return await options.token();
    } catch (cause) {
      // What `fetch` throws where there is no network: whoever renews the token is away, as the gateway may be.
      throw cause instanceof TypeError ? unreachable('where the token comes from', cause) : cause;
    }
  };

  const request = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = { authorization: `Bearer ${await token()}`, ...init.headers };
    try {
      // A redirect would take the token to another place.
      return await (options.fetch ?? fetch)(`${url}${path}`, { ...init, headers, redirect: 'error' });
    } catch (cause) {
      throw unreachable(url, cause);
    }
  };

  const attempt = async <T>(method: string, path: string, body: unknown, given: CallOptions): Promise<T> => {
    const limitMs = given.timeoutMs ?? defaultTimeoutMs;
    const limit = AbortSignal.timeout(limitMs);
    const signal = given.signal ? AbortSignal.any([given.signal, limit]) : limit;
    const headers: Record<string, string> = { accept: 'application/json', ...given.headers };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      const response = await request(withQuery(path, given.query), { method, headers, signal, ...payload });
      if (!response.ok) throw await problemIn(response);
      return await answerIn<T>(response);
    } catch (error) {
      given.signal?.throwIfAborted();
      if (!limit.aborted) throw error;
      throw new NatterApiError(0, { code: 'timeout', detail: `no answer from ${url} within ${limitMs / 1_000} s` });
    }
  };

  const call = async <T>(method: string, path: string, body?: unknown, given: CallOptions = {}): Promise<T> => {
    const { repeatable = method === 'GET' || given.headers?.['idempotency-key'] !== undefined } = given;
    const giveUpAt = performance.now() + (repeatable ? (given.patienceMs ?? patienceMs) : 0);
    for (let failures = 0; ; failures++) {
      try {
        return await attempt<T>(method, path, body, given);
      } catch (error) {
        const waitMs = Math.max(backoffMs(failures), isTransient(error) ? (error.retryAfterMs ?? 0) : 0);
        if (!isTransient(error) || performance.now() + waitMs > giveUpAt) throw error;
        await pause(waitMs, given.signal);
        given.signal?.throwIfAborted();
      }
    }
  };

  const open = async (path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> => {
    const response = await request(path, { headers, signal });
    if (!response.ok) throw await problemIn(response);
    return response;
  };

  return { url, patienceMs, token, call, open };
};

const answerIn = async <T>(response: Response): Promise<T> => {
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new NatterApiError(response.status, { detail: 'the answer is not JSON; is this the address of a Natter gateway?' });
  }
};
