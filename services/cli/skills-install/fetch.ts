import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { isLoopback } from '../../../shared/kit/loopback.ts';
import { quoted } from '../../../shared/kit/one-line.ts';
import { type HostAddress, type Internet, internet, pinnedTo, publicAddresses } from '../../../shared/runtime/web-hosts.ts';

/** Requests of registries and downloads: over TLS, bounded, and with the token sent only to its own server (A15/173, I12). */
export interface WebRequest {
  readonly url: URL;
  readonly signal: AbortSignal;
  /** Sent only to this origin; a redirect elsewhere does not get it. */
  readonly token?: string;
  /** The body of a POST. Without it the request is a GET. */
  readonly body?: { readonly type: string; readonly bytes: Uint8Array };
  /** Default: the real network. */
  readonly net?: Internet;
}
const downloadMs = 3_600_000;

const onThisMachine = ({ hostname }: URL): boolean => isLoopback(hostname.replace(/^\[|\]$/g, ''));
const shown = ({ origin, pathname }: URL): string => quoted(`${origin}${pathname}`, 300);

/** Parses an address: `https`, or `http` on this machine, without credentials. Throws `invalid`, naming the field. */
export const webAddress = (text: string, field: string, base?: URL): URL => {
  const refuse = (why: string) => new NatterError('invalid', `${field}: ${quoted(text)} ${why}`, { field });
  if (!URL.canParse(text, base?.href)) throw refuse('is no address');
  const url = new URL(text, base);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && onThisMachine(url))) throw refuse('is not https');
  if (url.username !== '' || url.password !== '') throw refuse('has credentials; leave them out');
  return url;
};

/**
 * The body of a response, at most `mostBytes` long. Throws `not_found`, `unauthorized`, `forbidden`, `overloaded`, `too_large`,
 * `invalid` or `unavailable`.
 */
export const fetchBytes = async (
  request: WebRequest,
  mostBytes: number,
  withinMs: number = limits.downloadStallMs,
): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  await within(withinMs, request, (asked) => take(asked, mostBytes, (chunk) => chunks.push(chunk)));
  return Buffer.concat(chunks);
};

/**
 * Writes the body of a response to a new file and resolves with its SHA-256. `progress` gets the bytes so far, and the total if
 * known. Throws the same errors.
 */
export const fetchFile = async (
  request: WebRequest,
  file: string,
  mostBytes: number,
  progress: (bytes: number, of: number | null) => void,
): Promise<string> => {
  const hash = createHash('sha256');
  const handle = openSync(file, 'wx', 0o600);
  try {
    let bytes = 0;
    const write = (chunk: Buffer, of: number | null): void => {
      hash.update(chunk);
      for (let done = 0; done < chunk.length; ) done += writeSync(handle, chunk, done);
      bytes += chunk.length;
      progress(bytes, of);
    };
    await within(downloadMs, request, (asked) => take(asked, mostBytes, write));
    return hash.digest('hex');
  } finally {
    closeSync(handle);
  }
};

/** Limits the total time, because a body that trickles in never stalls and might never end. */
const within = async (ms: number, request: WebRequest, work: (request: WebRequest) => Promise<void>): Promise<void> => {
  const over = AbortSignal.timeout(ms);
  try {
    await work({ ...request, signal: AbortSignal.any([request.signal, over]) });
  } catch (cause) {
    request.signal.throwIfAborted();
    if (!over.aborted) throw cause;
    throw new NatterError('unavailable', `${shown(request.url)}: the answer took longer than ${ms / 1_000} s`, { cause });
  }
};

const take = async (
  request: WebRequest,
  mostBytes: number,
  chunkRead: (chunk: Buffer, of: number | null) => void,
): Promise<void> => {
  const { response, url } = await follow(request);
  const tooLarge = new NatterError('too_large', `${shown(url)} has more than ${mostBytes} bytes`);
  try {
    const said = Number(response.headers['content-length'] ?? Number.NaN);
    if (said > mostBytes) throw tooLarge;
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > mostBytes) throw tooLarge;
      chunkRead(chunk, Number.isNaN(said) ? null : said);
    }
  } catch (cause) {
    if (cause instanceof NatterError) throw cause;
    request.signal.throwIfAborted();
    throw new NatterError('unavailable', `${shown(url)}: the answer broke off`, { cause });
  } finally {
    response.destroy();
  }
};

/** Follows redirects. A request with a body is not redirected, and a public address may not redirect to a private one. */
const follow = async (first: WebRequest): Promise<{ response: IncomingMessage; url: URL }> => {
  const { net = internet } = first;
  let request = first;
  let addresses: readonly HostAddress[] | undefined;
  for (let redirects = 0; redirects <= limits.webRedirects; redirects++) {
    const { url, body, token, signal } = request;
    const response = await ask(request, addresses);
    const status = response.statusCode ?? 0;
    const next = response.headers.location;
    if (status >= 200 && status < 300) return { response, url };
    response.destroy();
    if (status < 300 || status >= 400 || next === undefined || body !== undefined) throw refusal(url, status, response);
    const to = webAddress(next, `${shown(url)} leads elsewhere`, url);
    if (onThisMachine(to) && !onThisMachine(first.url)) throw new NatterError('invalid', `${shown(url)} leads to this machine`);
    addresses = (await isOpen(first.url, net)) ? await publicAddresses(to, net) : undefined;
    request = { url: to, signal, ...(token !== undefined && to.origin === url.origin && { token }) };
  }
  throw new NatterError('invalid', `${shown(first.url)} leads elsewhere more than ${limits.webRedirects} times`);
};

const isOpen = (url: URL, net: Internet): Promise<boolean> =>
  publicAddresses(url, net).then(
    () => true,
    () => false,
  );

const codes = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  410: 'not_found',
  413: 'too_large',
  429: 'overloaded',
} as const;
const refusal = (url: URL, status: number, { headers }: IncomingMessage): NatterError => {
  const code = codes[status as keyof typeof codes] ?? (status >= 500 ? 'unavailable' : 'invalid');
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  const later = Number.isInteger(seconds) ? { retryAfterMs: seconds * 1_000 } : {};
  const when = Number.isInteger(seconds) ? `; try again in ${seconds} s` : '';
  return new NatterError(code, `${shown(url)} answers with HTTP ${status}${when}`, later);
};

const ask = ({ url, signal, token, body }: WebRequest, addresses?: readonly HostAddress[]): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const refuse = (why: string, cause?: unknown) =>
      reject(signal.aborted ? signal.reason : new NatterError('unavailable', `${shown(url)}: no answer: ${why}`, { cause }));
    const headers = {
      'user-agent': 'natter',
      'accept-encoding': 'identity',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': body.type, 'content-length': body.bytes.length }),
    };
    const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
    // `rejectUnauthorized` overrides an environment that disables certificate checks.
    const lookup = addresses && { lookup: pinnedTo(addresses) };
    const options = { agent: false, method: body ? 'POST' : 'GET', headers, rejectUnauthorized: true, signal, ...lookup };
    const request = start(url, options, resolve);
    request.setTimeout(limits.downloadStallMs, () => request.destroy(new Error('nothing came for too long')));
    request.on('error', (cause: NodeJS.ErrnoException) => refuse(cause.code ?? cause.message, cause));
    request.on('close', () => refuse('the connection ended'));
    request.end(body?.bytes);
  });
