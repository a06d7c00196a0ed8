import { z } from 'zod';
import { type SessionKey, sessionKey } from '../routing/session-key.ts';
import { type SessionCommand, sessionCommand } from '../session/commands.ts';
import type { SessionEvent } from '../session/events.ts';
import { checkpointReason } from '../session/memory.ts';
import { deliveryTarget, sender, sessionSource, timestamp } from '../session/types.ts';

/**
 * The three messages of the system: an inbound envelope (what a platform said), a command envelope (what a session is asked) and a
 * commit (what has happened). All times are milliseconds since 1970, UTC, as MessagePack numbers (float64: read them as numbers).
 */
const id = z.string().min(1).max(128);
/** The trace that a message is of (W3C Trace Context); only there when somebody traces. What is not well-formed is ignored. */
const traceparent = z
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
 * What a channel, webhook or program tells the router. `id` is the platform's own message id made unique by channel and account: sending
 * the same envelope again changes nothing. `conversation` is the platform's chat id, byte-exact. `mentioned` and `directed` are what the
 * platform can tell about the agent being addressed (A6). An envelope of kind `meta` brings no message, only what is known of the conversation
 * and the way back to it (A13/138); its text is empty. Without a kind it is a `message`.
 */
const label = z.string().max(256).optional();
const routingId = z.string().min(1).max(512).optional();
export const inboundEnvelope = z.object({
  id,
  kind: z.enum(['message', 'meta']).optional(),
  channel: z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/, 'channel: use 1 to 32 of a-z, 0-9, "_" and "-", starting with a letter'),
  accountId: z.string().min(1).max(128).optional(),
  conversation: z.object({
    id: z.string().min(1).max(128),
    kind: z.enum(['direct', 'group', 'channel']),
    threadId: z.string().min(1).max(128).optional(),
    /** What a conversation is called: `ConversationLabel`, `GroupSubject`, `GroupChannel` and `GroupSpace` (A13/139). */
    label,
    subject: label,
    channel: label,
    space: label,
  }),
  /** The platform, where the channel's name is not its own, and the raw routing ids (A13/133–134). */
  provider: z.string().min(1).max(64).optional(),
  from: routingId,
  to: routingId,
  /** A session key that a hook or node chooses itself (A3/38–39, C16), or an older `group:<id>` of this channel (A3/36). */
  sessionKey: z.string().min(1).max(256).optional(),
  sender,
  text: z.string().max(262_144),
  mentioned: z.boolean().default(false),
  directed: z.boolean().default(false),
  at: timestamp.optional(),
  agentId: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)
    .optional(),
  deliverTo: deliveryTarget.optional(),
  source: sessionSource.optional(),
  traceparent,
});
export type InboundEnvelope = z.infer<typeof inboundEnvelope>;

/** Seconds since 1970 stay below this for the next three thousand years; milliseconds have been above it since 1973. */
const leastMs = 100_000_000_000;
/** An envelope as it comes in from outside: a time in seconds would land in January 1970 without anybody noticing. */
export const arrivingEnvelope = inboundEnvelope.omit({ traceparent: true }).extend({
  at: timestamp.min(leastMs, 'is in milliseconds since 1970; this looks like seconds').optional(),
});

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
