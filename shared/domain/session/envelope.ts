import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { type SessionKey, sessionKey } from '../keys/session-key.ts';
import { checkpointReason } from '../values/memory-edit.ts';
import { timestamp } from '../values/types.ts';
import { type SessionCommand, sessionCommand } from './commands.ts';
import type { SessionEvent } from './events.ts';
import { type CallAttempt, callAttempt } from './repeats/asked-calls.ts';
import { type MessageOrder, messageOrder } from './repeats/order-windows.ts';

/**
 * The messages between services: an inbound envelope (what a platform sent), a command envelope (what a session is asked to do)
 * and a commit (what happened). All times are milliseconds since 1970, UTC, as MessagePack numbers (float64: read them as
 * numbers).
 */
export const id = z.string().min(1).max(128);

/** The trace of a message (W3C Trace Context); present only with tracing. A malformed value is ignored. */
export const traceparent = z
  .string()
  .regex(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
  .optional()
  .catch(undefined);

/**
 * Carries a command with its identity and time. An `id` takes effect once (I2). `correlationId` is the run: the answer, the turn
 * and everything that follows carry it. `causationId` is the cause of this command. `actor` is who sends it. `ifGeneration`, on a
 * scheduled command, is the generation it was scheduled in or for; deleting that generation cancels the command (C9), a reset
 * does not. `ifSeq`: the command is refused unless the session's last commit has that sequence (0: there is none). `order` and `call` tell a
 * repeat that comes late, or under another id (D9).
 */
export interface Envelope<T> {
  readonly id: string;
  readonly key: SessionKey;
  readonly at: number;
  readonly correlationId: string;
  readonly causationId: string;
  readonly actor: string;
  /** Core subject that receives the outcome, once and without guarantee; the log is authoritative. */
  readonly answerTo?: string;
  /** Only outcomes that the log does not show are answered: the sender follows it. Default: all. */
  readonly answers?: 'unrecorded' | undefined;
  readonly ifGeneration?: number;
  readonly ifSeq?: number;
  readonly order?: MessageOrder | undefined;
  readonly call?: CallAttempt | undefined;
  readonly traceparent?: string | undefined;
  readonly data: T;
}
export type CommandEnvelope = Envelope<SessionCommand>;
export const commandEnvelope = z.object({
  id,
  key: sessionKey,
  at: timestamp,
  correlationId: id,
  causationId: id,
  actor: z.string().min(1).max(limits.actorCharacters),
  answerTo: z.string().max(256).optional(),
  answers: z.literal('unrecorded').optional(),
  ifGeneration: z.int().min(1).optional(),
  ifSeq: z.int().min(0).optional(),
  order: messageOrder.optional(),
  call: callAttempt.optional(),
  traceparent,
  data: sessionCommand,
}) satisfies z.ZodType<CommandEnvelope, unknown>;

/** The outcome of a command, as sent to `answerTo`; a refused command is answered too. */
export const commandAnswer = z.object({
  commandId: id,
  outcome: z.enum(['accepted', 'nothing', 'duplicate', 'refused']),
  code: z.string().optional(),
  message: z.string().optional(),
  seq: z.int().optional(),
  rev: z.int().optional(),
  /** Of a duplicate: the command that it repeats, where that has another id. */
  firstId: id.optional(),
});
export type CommandAnswer = z.infer<typeof commandAnswer>;

/**
 * A `checkpoint_requested` event as work for introspection (A7/80): the revs `fromRev` to `toRev` of the key, in generation
 * `sessionId`, stored in the log after the sequence `afterSeq`. `id` is the event's id, in the commit `throughSeq`.
 */
export const checkpointRequest = z.object({
  id,
  key: sessionKey,
  sessionId: id,
  reason: checkpointReason,
  fromRev: z.int().min(1),
  toRev: z.int().min(1),
  afterSeq: z.int().min(0),
  throughSeq: z.int().min(1),
  traceparent,
});
export type CheckpointRequest = z.infer<typeof checkpointRequest>;

/** The position in the command stream of the command behind a commit; `null` for a host's own commands (a step, a resume). */
export interface CommandRef {
  readonly id: string;
  readonly seq: number | null;
  /** Identifies one life of the command stream: sequences start again when the stream is recreated. */
  readonly incarnation: number | null;
  /** As in the command's envelope. */
  readonly order?: MessageOrder | undefined;
  readonly call?: CallAttempt | undefined;
}

/** All events of one decision, to be written as one message. `rev` numbers a key's commits from 1 without a gap (I3). */
export interface Commit {
  /** 1: written before there was a chain. */
  readonly v: 1 | 2;
  readonly id: string;
  readonly key: SessionKey;
  readonly rev: number;
  /** Digest of the key's previous commit; `null` for the first. Absent only with `v` 1. */
  readonly prev?: string | null | undefined;
  readonly sessionId: string;
  readonly epoch: number;
  readonly at: number;
  readonly correlationId: string;
  readonly causationId: string;
  readonly actor: string;
  /** Name of the host that wrote it. Absent in commits of older versions, and in those that no host wrote. */
  readonly host?: string | undefined;
  readonly command: CommandRef;
  readonly traceparent?: string | undefined;
  readonly events: readonly SessionEvent[];
}

/** A commit that the log has accepted. `seq` is its place in the stream; its event `i` has the stable id `<seq>.<i>`. */
export interface RecordedCommit extends Commit {
  readonly seq: number;
  /** Digest of the encoded commit: the first 22 characters of its SHA-256, base64url. */
  readonly digest: string;
  /** When the broker stored it, ms. */
  readonly recordedAt: number;
  /** Bytes of the encoded commit. Only where it was read from the log. */
  readonly sizeBytes?: number | undefined;
}
const digest = z.string().regex(/^[\w-]{22}$/);
export const commitShape = z.object({
  v: z.union([z.literal(1), z.literal(2)]),
  id,
  key: sessionKey,
  rev: z.int().min(1),
  prev: digest.nullable().optional(),
  sessionId: z.string().max(128),
  epoch: z.int().min(0),
  at: timestamp,
  correlationId: id,
  causationId: id,
  actor: z.string().min(1).max(limits.actorCharacters),
  host: z.string().min(1).max(limits.actorCharacters).optional(),
  command: z.object({
    id,
    seq: z.int().min(1).nullable(),
    incarnation: z.number().nullable(),
    order: messageOrder.optional(),
    call: callAttempt.optional(),
  }),
  traceparent,
  events: z.array(z.unknown()).min(1).max(256),
});
/** A commit with what the log adds to it. */
export const recordedCommitShape = commitShape.extend({
  ...{ seq: z.int().min(1), recordedAt: z.number(), digest },
  sizeBytes: z.int().min(1).optional(),
});
