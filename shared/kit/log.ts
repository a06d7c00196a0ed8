import { type DestinationStream, destination as fileDestination, type Logger, pino } from 'pino';
import { NatterError } from './errors.ts';
import { scrubber } from './scrub.ts';
import { traceIdNow } from './trace.ts';

export type { Logger } from 'pino';

/** Characters of one text field, and items of one list, in a log line. */
const textCharacters = 2_000;
const listItems = 20;
const causes = 3;

type Shorten = (text: string) => string;
/** Scrubs before it cuts: a secret cut in half would no longer match any pattern. */
const shortener =
  (scrub: Shorten): Shorten =>
  (text) =>
    text.length <= textCharacters ? text : `${scrub(text.slice(0, 16 * textCharacters)).slice(0, textCharacters)}… (shortened)`;

/**
 * The loggable fields of an error. All others are left out, since they may hold a request with its headers. Expected errors have
 * no stack, which would help nobody.
 */
const errorFields = (error: Error, shortened: Shorten, depth = 0): Record<string, unknown> => ({
  type: error.name,
  message: shortened(error.message),
  ...('code' in error && (typeof error.code === 'string' || typeof error.code === 'number') && { code: error.code }),
  ...(depth === 0 && error.stack !== undefined && !(error instanceof NatterError) && { stack: shortened(error.stack) }),
  ...(error.cause instanceof Error && depth < causes && { cause: errorFields(error.cause, shortened, depth + 1) }),
});

/** Method and path of a request. The query is left out, because it may hold tokens. */
const requestFields = (request: object, shortened: Shorten): Record<string, unknown> => ({
  ...('method' in request && typeof request.method === 'string' && { method: request.method }),
  ...('url' in request && typeof request.url === 'string' && { path: shortened(request.url.split(/[?#]/)[0] ?? '') }),
});

const responseFields = (response: object): Record<string, unknown> =>
  'statusCode' in response && typeof response.statusCode === 'number' ? { status: response.statusCode } : {};

/** Names of text fields whose value is hidden. */
const secretName = /token|secret|password|passwd|authorization|cookie|api_?key|credential/i;

/** The allow-list: scalars, lists of scalars, and errors by their known fields. Anything else is left out, whatever its name. */
const allowed = (name: string, value: unknown, shortened: Shorten): unknown => {
  if (typeof value === 'string') return secretName.test(name) ? '[secret]' : shortened(value);
  if (typeof value === 'bigint') return value.toString();
  if (value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean') return value;
  if (value instanceof Error) return errorFields(value, shortened);
  if (Array.isArray(value))
    return value.slice(0, listItems).map((item) => (typeof item === 'object' ? '[left out]' : allowed('', item, shortened)));
  if (typeof value === 'object' && name === 'req') return requestFields(value, shortened);
  if (typeof value === 'object' && name === 'res') return responseFields(value);
  return '[left out]';
};
const allowedFields =
  (shortened: Shorten) =>
  (fields: object): Record<string, unknown> =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, allowed(name, value, shortened)]));

/**
 * A logger that writes JSON lines to `destination` (default: standard error). Fields of a line may be scalars, lists of scalars
 * and errors; objects are left out, so that a whole envelope, request or event cannot be logged by mistake. `secrets` are the
 * values this process knows; they, and anything shaped like a token, are hidden in the finished line (I12). Within a trace, a
 * line carries the trace id. Changing the `level` also changes it for child loggers.
 */
export const createLog = (options: {
  level: string;
  name: string;
  secrets?: readonly string[];
  destination?: DestinationStream;
  /** Keeps the finished lines. */
  recent?: { add(line: string): void };
}): Logger => {
  const scrub = scrubber(options.secrets ?? []);
  const finish = (line: string): string => {
    const clean = scrub(line);
    options.recent?.add(clean);
    return clean;
  };
  const fields = allowedFields(shortener(scrub));
  return pino(
    {
      name: options.name,
      level: options.level,
      base: { name: options.name, pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      // Pino's own serializers would expand errors and requests; ours have already turned them into small plain objects.
      serializers: { err: (value: unknown) => value, req: (value: unknown) => value, res: (value: unknown) => value },
      formatters: {
        level: (label) => ({ level: label }),
        bindings: fields,
        log: fields,
      },
      mixin: () => {
        const traceId = traceIdNow();
        return traceId === undefined ? {} : { traceId };
      },
      hooks: { streamWrite: finish },
    },
    options.destination ?? fileDestination({ dest: 2, sync: true }),
  );
};
