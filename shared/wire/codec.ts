import { hash } from 'node:crypto';
import { Packr } from 'msgpackr';
import type { z } from 'zod';
import { type InboundEnvelope, inboundEnvelope } from '../domain/routing/inbound-envelope.ts';
import {
  type CheckpointRequest,
  type CommandEnvelope,
  type Commit,
  checkpointRequest,
  commandEnvelope,
  commitShape,
  type RecordedCommit,
} from '../domain/session/envelope.ts';
import { upcast } from '../domain/session/upcast.ts';
import { assert } from '../kit/assert.ts';
import { NatterError } from '../kit/errors.ts';
import { limits } from '../kit/limits.ts';
import { detachedString } from '../kit/text/detached-string.ts';
import { scan } from './scan.ts';

/** Plain MessagePack that any language reads: no records, no extension types; `undefined` fields are left out. */
const dialect = {
  useRecords: false,
  variableMapSize: true,
  encodeUndefinedAsNil: true,
  skipValues: [undefined],
  int64AsType: 'number',
} as const;
const packr = new Packr({ ...dialect });

/** Replaces every lone surrogate by U+FFFD: JSON and truncated answers can contain one, UTF-8 cannot. */
const wellFormed = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name.toWellFormed(), wellFormed(part)]));
};

/** Encodes plain data, so that `decode` and any other reader accept it. Throws `too_large` over `maxBytes`. */
export const encode = (value: unknown, maxBytes: number = limits.commitBytes): Uint8Array => {
  const bytes = packr.pack(value);
  if (bytes.byteLength > maxBytes)
    throw new NatterError('too_large', `message of ${bytes.byteLength} bytes; at most ${maxBytes} are allowed`);
  if (scan(bytes) === null) return bytes;
  const mended = packr.pack(wellFormed(value));
  const problem = scan(mended);
  assert(problem === null, `a message of our own ${problem}`);
  return mended;
};

/** Decodes untrusted plain data. Throws only `NatterError('invalid' | 'too_large')`. */
export const decode = (bytes: Uint8Array, maxBytes: number = limits.commitBytes): unknown => {
  if (bytes.byteLength > maxBytes)
    throw new NatterError('too_large', `message of ${bytes.byteLength} bytes; at most ${maxBytes} are allowed`);
  const problem = scan(bytes);
  if (problem !== null) throw new NatterError('invalid', `MessagePack message ${problem}`);
  try {
    return packr.unpack(bytes);
  } catch (cause) {
    throw new NatterError('invalid', 'MessagePack message cannot be decoded', { cause });
  }
};

/** Validates data against a schema. Throws `invalid` with the first wrong field and the fix. */
export const check = <T>(schema: z.ZodType<T, unknown>, value: unknown): T => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue?.path.map(String).join('.') ?? '';
  throw new NatterError('invalid', `${field === '' ? 'the message' : field}: ${issue?.message ?? 'is not valid'}`, { field });
};

export const encodeCommand = (command: CommandEnvelope): Uint8Array => encode(command, limits.commandBytes);
export const decodeCommand = (bytes: Uint8Array): CommandEnvelope => {
  const command = check<CommandEnvelope>(commandEnvelope, decode(bytes, limits.commandBytes));
  return { ...command, id: detachedString(command.id), key: detachedString(command.key) };
};

/** Throws `too_large` for an envelope whose command might be too large. */
export const encodeInbound = (envelope: InboundEnvelope): Uint8Array => {
  const bytes = encode(envelope);
  if (bytes.byteLength <= limits.inboundBytes) return bytes;
  const message = `text: the envelope has ${bytes.byteLength} bytes of at most ${limits.inboundBytes}; send a shorter text, or a link to it`;
  throw new NatterError('too_large', message, { field: 'text' });
};
/** Reads what older versions stored too, up to the size of a command. */
export const decodeInbound = (bytes: Uint8Array): InboundEnvelope =>
  check<InboundEnvelope>(inboundEnvelope, decode(bytes, limits.commandBytes));

export const encodeCheckpoint = (request: CheckpointRequest): Uint8Array => encode(request, limits.commandBytes);
export const decodeCheckpoint = (bytes: Uint8Array): CheckpointRequest =>
  check<CheckpointRequest>(checkpointRequest, decode(bytes, limits.commandBytes));

/** The digest that the next commit of the key names as `prev`: the first 22 characters of the SHA-256 of a commit's bytes, base64url. */
export const digestOf = (bytes: Uint8Array): string => hash('sha256', bytes, 'base64url').slice(0, 22);

/** Validates and encodes a commit: what the checks let through, no more. Throws rather than write a commit that could not be read back. */
export const encodeCommit = (commit: Commit): Uint8Array => {
  const shape = check(commitShape, commit);
  checkLink(shape);
  return encode({ ...shape, events: commit.events.map(upcast) });
};

/**
 * Decodes a stored commit and upcasts its events. `own`: the digest of a commit that this process has encoded, whose bytes are not checked
 * again. Throws `invalid` on anything else.
 */
export const decodeCommit = (bytes: Uint8Array, seq: number, recordedAt: number, own?: string): RecordedCommit => {
  const [digest, sizeBytes] = [digestOf(bytes), bytes.byteLength];
  // Onto the new object: to spread it would take as long as to unpack it.
  if (digest === own) return Object.assign(packr.unpack(bytes) as Commit, { seq, recordedAt, digest, sizeBytes });
  const shape = check(commitShape, decode(bytes));
  checkLink(shape);
  try {
    return { seq, recordedAt, digest, sizeBytes, ...shape, events: shape.events.map(upcast) };
  } catch (cause) {
    throw new NatterError('invalid', `commit ${seq} of ${shape.key} has an event that this version cannot read`, { cause });
  }
};

/** From version 2 on a commit names the one before it. */
const checkLink = ({ v, prev }: Pick<Commit, 'v' | 'prev'>): void => {
  if ((v === 1) === (prev === undefined)) return;
  throw new NatterError(
    'invalid',
    `prev: a commit of version ${v} has ${v === 1 ? 'none' : 'the digest of the commit before it'}`,
    {
      field: 'prev',
    },
  );
};
