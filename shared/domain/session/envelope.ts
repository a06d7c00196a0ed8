import { z } from 'zod';
import { type SessionKey, sessionKey } from '../keys/session-key.ts';
import { checkpointReason } from '../values/memory-edit.ts';
import { timestamp } from '../values/types.ts';
import { type SessionCommand, sessionCommand } from './commands.ts';
import type { SessionEvent } from './events.ts';

/**
 * The three messages of the system: an inbound envelope (what a platform said), a command envelope (what a session is asked) and a
 * commit (what has happened). All times are milliseconds since 1970, UTC, as MessagePack numbers (float64: read them as numbers).
 */
export const id = z.string().min(1).max(128);

/** The trace that a message is of (W3C Trace Context); only there when somebody traces. What is not well-formed is ignored. */
export const traceparent = z
  .string()
  .regex(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
  .optional()
  .catch(undefined);

/**
 * Carries a command with its identity and time (§4). `id` takes effect once (I2). `correlationId` is the run: the answer, the turn and all
 * that follows from it bear it. `causationId` is what led to this command. `actor` is who asks. `ifGeneration`, of a command that was planned
 * ahead, is the generation it was planned in, or for; deleting that cancels it (C9), a reset does not.
 * `ifSeq`: the command is refused unless the session's last commit is at that sequence (0: it has none).
 */
export interface Envelope<T> {
  readonly id: string;
  readonly key: SessionKey;
  readonly at: number;
  readonly correlationId: string;
  readonly causationId: string;
  readonly actor: string;
  /** Core subject the outcome is told to, once and without guarantee; the log is what counts. */
  readonly answerTo?: string;
  readonly ifGeneration?: number;
  readonly ifSeq?: number;
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
  actor: z.string().min(1).max(256),
  answerTo: z.string().max(256).optional(),
  ifGeneration: z.int().min(1).optional(),
  ifSeq: z.int().min(0).optional(),
  traceparent,
  data: sessionCommand,
}) satisfies z.ZodType<CommandEnvelope, unknown>;

/** What became of a command, as told to `answerTo` (§5: "one that `decide` refuses is answered"). */
export const commandAnswer = z.object({
  commandId: id,
  outcome: z.enum(['accepted', 'nothing', 'duplicate', 'refused']),
  code: z.string().optional(),
  message: z.string().optional(),
  seq: z.int().optional(),
  rev: z.int().optional(),
});
export type CommandAnswer = z.infer<typeof commandAnswer>;

/**
 * A `checkpoint_requested` event as work for whoever looks back (A7/80): what was said in `sessionId` from `fromRev` to `toRev` of the key, which
 * is in the log after the sequence `afterSeq`. `id` is the event's, in the commit `throughSeq`.
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

/** The position of the command a commit came from in the command stream; `null` for a host's own commands (a step, a resume). */
export interface CommandRef {
  readonly id: string;
  readonly seq: number | null;
  /** Tells one life of the command stream from the next: sequences start again when it is created anew. */
  readonly incarnation: number | null;
}

/** All events of one decision, about to be written as one message (§5). `rev` numbers a key's commits from 1 without a gap (I3). */
export interface Commit {
  readonly v: 1;
  readonly id: string;
  readonly key: SessionKey;
  readonly rev: number;
  readonly sessionId: string;
  readonly epoch: number;
  readonly at: number;
  readonly correlationId: string;
  readonly causationId: string;
  readonly actor: string;
  readonly command: CommandRef;
  readonly traceparent?: string | undefined;
  readonly events: readonly SessionEvent[];
}

/** A commit the log has accepted. `seq` is its place in the stream; event `i` of it has the stable id `<seq>.<i>`. */
export interface RecordedCommit extends Commit {
  readonly seq: number;
  /** When the broker stored it, ms. */
  readonly recordedAt: number;
}
export const commitShape = z.object({
  v: z.literal(1),
  id,
  key: sessionKey,
  rev: z.int().min(1),
  sessionId: z.string().max(128),
  epoch: z.int().min(0),
  at: timestamp,
  correlationId: id,
  causationId: id,
  actor: z.string().min(1).max(256),
  command: z.object({ id, seq: z.int().min(1).nullable(), incarnation: z.number().nullable() }),
  traceparent,
  events: z.array(z.unknown()).min(1).max(256),
});
