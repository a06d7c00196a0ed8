import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Config } from '../../../shared/domain/config/schema.ts';
import { type SessionKey, sessionKeyProblem } from '../../../shared/domain/keys/session-key.ts';
import { eventTypes } from '../../../shared/domain/session/events.ts';
import { timestamp } from '../../../shared/domain/values/types.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { parsed } from '../../../shared/kit/text/issue-text.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import { type Cursor, parseCursor } from './cursor.ts';

/** All input is validated here, once. Each function throws `NatterError('invalid')` that names the field. */

const invalid = (field: string, message: string): NatterError => new NatterError('invalid', `${field}: ${message}`, { field });

/** Names that would reach into an object's prototype. */
const forbiddenNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Refuses valid JSON that is not accepted here: prototype names, and text that is not well-formed Unicode. */
const guard = (name: string, value: unknown): unknown => {
  if (forbiddenNames.has(name)) throw invalid(name, 'is not a known field; remove it');
  if (typeof value === 'string' && !value.isWellFormed()) throw invalid(name, 'has a broken surrogate pair; send valid UTF-8');
  return value;
};

/**
 * Of a text without these names, and without an escape that could spell one, `guard` refuses nothing: UTF-8 itself has no broken surrogate
 * pair. To ask it for each value takes several times as long as to read the text. A long one may be nested too deep for others.
 */
const suspicious = /__proto__|constructor|prototype|\\u/;
const isPlain = (text: string): boolean => text.length <= 4_096 && !suspicious.test(text);

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON body; `undefined` for an empty one. `whole` names the body in errors about all of it. */
export const readJson = (bytes: Buffer, whole = 'body'): unknown => {
  if (bytes.byteLength === 0) return undefined;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw invalid(whole, 'is not valid UTF-8');
  }
  try {
    return isPlain(text) ? JSON.parse(text) : JSON.parse(text, guard);
  } catch (cause) {
    if (cause instanceof NatterError) throw cause;
    throw invalid(whole, 'is not valid JSON');
  }
};

/** The value, validated by a schema. `whole` names the value in errors about all of it. */
export const checked = <T>(schema: z.ZodType<T, unknown>, value: unknown, whole: string): T => {
  const result = parsed(schema, value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = (issue?.path ?? []).map(String);
  if (issue?.code === 'unrecognized_keys') {
    throw invalid([...path, issue.keys[0] ?? ''].join('.'), 'is not a known field; remove it or correct its name');
  }
  throw invalid(path.length === 0 ? whole : path.join('.'), issue?.message ?? 'is not valid');
};

/** The body, by a strict schema. A missing body counts as `{}`. */
export const bodyOf = <T>(schema: z.ZodType<T, unknown>, request: FastifyRequest): T =>
  checked(schema, request.body === undefined ? {} : request.body, 'body');

/** The query, by a schema of all parameters that this route knows. */
export const queryOf = <S extends z.ZodRawShape>(schema: z.ZodObject<S>, request: FastifyRequest): z.infer<z.ZodObject<S>> => {
  const query = request.query as Record<string, unknown>;
  const unknown = Object.keys(query).find((name) => !Object.hasOwn(schema.shape, name));
  if (unknown !== undefined) {
    throw invalid(unknown, `is not a parameter of this address; known are: ${Object.keys(schema.shape).join(', ') || 'none'}`);
  }
  return checked(schema, { ...query }, 'query');
};
/** For routes without parameters. */
export const noQuery = z.object({});

/** Whether a request asks for an event stream, where there is one at its address. */
export const wantsStream = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && /\btext\/event-stream\b/i.test(headers.accept ?? '');

/** The session key in the path, in its stored form (C2). */
export const keyOf = (config: Config, request: FastifyRequest): SessionKey =>
  keyFrom(config, (request.params as { key: string }).key, 'key');

const whole = (text: string): boolean => /^\d{1,15}$/.test(text);
const wholeNumber = z
  .string('give it once')
  .refine(whole, 'use a whole number')
  .transform((text) => Number(text));

/** `limit=N`, 1 to 1,000. */
export const limitParameter = (fallback: number) =>
  wholeNumber
    .pipe(z.int().min(1).max(limits.pageRows))
    .default(Math.min(fallback, limits.pageRows))
    .meta({ type: 'integer', minimum: 1, maximum: limits.pageRows, default: Math.min(fallback, limits.pageRows) });

/** The same for methods, where a larger number counts as 1,000. */
export const limitNumber = (fallback: number) =>
  z
    .int()
    .min(1)
    .transform((count) => Math.min(count, limits.pageRows))
    .default(fallback);

/** `SEQ` or `SEQ.INDEX`. */
const placeParameter = z.string('give it once').transform((text, context): Cursor => {
  const cursor = parseCursor(text);
  if (cursor) return cursor;
  context.addIssue({ code: 'custom', message: 'use SEQ or SEQ.INDEX as in an event\'s id, such as "17" or "17.2"' });
  return z.NEVER;
});
const placePattern = '^\\d{1,15}(\\.\\d{1,6})?$';

/** `after=SEQ` or `after=SEQ.INDEX`. */
export const afterParameter = placeParameter.meta({
  ...{ pattern: placePattern, description: 'after this commit, or after this event of it' },
});

/** `event=SEQ.INDEX`, or `event=SEQ` for all events of a commit. */
export const eventParameter = placeParameter.meta({
  ...{ pattern: placePattern, description: 'an event by its `id`, or all of a commit by its `seq`' },
});

/** `before=SEQ`, `before=SEQ.INDEX` or `before=end`: a page is read backwards, newest first. */
export const beforeParameter = z
  .string('give it once')
  .transform((text, context): Cursor | 'end' => {
    if (text === 'end') return text;
    const cursor = parseCursor(text);
    if (cursor) return Number.isFinite(cursor.index) ? cursor : { seq: cursor.seq, index: 0 };
    context.addIssue({ code: 'custom', message: 'use "end", or SEQ or SEQ.INDEX as in an event\'s id, such as "17" or "17.2"' });
    return z.NEVER;
  })
  .meta({
    pattern: '^(end|\\d{1,15}(\\.\\d{1,6})?)$',
    description:
      'newest first: what is in front of this commit or event, or of the end; `next` is then the `before` of the next page',
  });

/** `wait=SECONDS`; 0 means no wait (A10/118). */
export const waitParameter = z
  .string('give it once')
  .refine((text) => /^\d{1,4}(\.\d{1,3})?$/.test(text), 'use seconds, such as 30')
  .transform((text) => Number(text))
  .pipe(z.number().max(limits.waitSeconds))
  .default(0)
  .meta({ type: 'number', minimum: 0, maximum: limits.waitSeconds, default: 0, description: 'seconds' });

/** A time in a body: milliseconds since 1970, or ISO 8601; until the year 9999. */
export const timeField = z.union([
  timestamp.int().min(1),
  z.iso
    .datetime({ offset: true })
    .transform((text) => Date.parse(text))
    .pipe(timestamp),
]);

/** `after=SEQ`, for lists without events. */
export const sequenceParameter = wholeNumber.meta({ type: 'integer', minimum: 0 });

export const minutesParameter = wholeNumber.pipe(z.int().min(1)).meta({ type: 'integer', minimum: 1 });

const flag = z.enum(['0', '1', 'true', 'false'], 'use 1 or 0').transform((text) => text === '1' || text === 'true');
/** `name=1`; also `true`, `0` and `false`. */
export const flagParameter = flag.default(false).meta({ default: '0' });
/** The same, where to leave it out means neither. */
export const choiceParameter = flag.optional();

/** `type=…`, repeatable: an allow-list, so that neither a wildcard nor an internal XState type has a meaning here. */
export const typesParameter = z
  .union([z.string(), z.array(z.string())])
  .transform((given, context): ReadonlySet<string> => {
    const types = [given].flat();
    const unknown = types.find((type) => !(eventTypes as readonly string[]).includes(type));
    if (unknown === undefined) return new Set(types);
    context.addIssue({
      code: 'custom',
      message: `${JSON.stringify(unknown)} is no event type; known are: ${eventTypes.join(', ')}`,
    });
    return z.NEVER;
  })
  .optional()
  .meta({ anyOf: undefined, type: 'array', items: { type: 'string', enum: [...eventTypes] }, description: 'may be repeated' });

/** `key=PREFIX`: whole segments, so `agent:main:irc` matches `agent:main:irc:group:x` and never `agent:main:irccloud`. */
export const prefixParameter = z
  .string('give it once')
  .transform((text, context) => {
    const prefix = text.replace(/:$/, '');
    const problem = sessionKeyProblem(prefix);
    if (problem === null) return prefix;
    context.addIssue({ code: 'custom', message: `session key prefix ${problem}` });
    return z.NEVER;
  })
  .optional()
  .meta({ description: 'whole segments that the session keys begin with' });

const isoTime = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;
/** A date means its start in UTC. A time of day must have a zone; without one each gateway would read it differently. */
const timeIn = (text: string): number => {
  const [, day] = isoTime.exec(text) ?? [];
  return z.iso.date().safeParse(day).success ? Date.parse(text) : Number.NaN;
};

/** A moment of the log: `SEQ` or a time in ISO 8601. */
export const momentParameter = z
  .string('give it once')
  .transform((text, context): { seq: number } | { time: number } => {
    if (whole(text)) return { seq: Number(text) };
    const time = timeIn(text);
    if (!Number.isNaN(time)) return { time };
    context.addIssue({ code: 'custom', message: 'use a sequence number or a time such as "2026-01-31T12:00:00Z"' });
    return z.NEVER;
  })
  .meta({
    pattern: '^(\\d{1,15}|\\d{4}-\\d{2}-\\d{2}.*)$',
    description: 'a sequence of the log, or a time in ISO 8601 by the clock of the broker',
  });
