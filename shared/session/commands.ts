import { z } from 'zod';
import { message, sessionSource, stepOutcome, timestamp, turnRef } from './types.ts';

/** What somebody asks of a session. Imperative; `decide` may refuse it. A closed set: an unknown type never reaches an actor (§4). */
const id = z.string().min(1).max(128);

export const sessionCommand = z.discriminatedUnion('type', [
  /** Creates the session or makes an inactive one visible again (A5/64). */
  z.object({ type: z.literal('open_session'), sessionId: id, source: sessionSource.optional() }),
  /** Stores the message and asks for a turn (A5/68). The turn's id is the envelope's `id`. `sessionId` is used if the session is new. */
  z.object({ type: z.literal('post_message'), sessionId: id, message, source: sessionSource.optional() }),
  /** Stores the message without a turn (A5/69, A6/75). */
  z.object({ type: z.literal('append_message'), sessionId: id, message, source: sessionSource.optional() }),
  /** Ends the running turn and clears the queue; late results are discarded by epoch and attempt (A11/125). */
  z.object({ type: z.literal('stop'), reason: z.string().max(200) }),
  /** Starts a new generation with this session id (A4/53). */
  z.object({ type: z.literal('reset'), sessionId: id, reason: z.string().max(200) }),
  /** Hides an idle session from normal lists until its next message (A5/63). */
  z.object({ type: z.literal('deactivate_session'), reason: z.string().max(200) }),
  /** After a load: a turn that was running when its host died goes on as the next attempt (idea 3). */
  z.object({ type: z.literal('resume_turn') }),
  /** The outcome of model step `step` (from 1) of an attempt at a turn. */
  z.object({ type: z.literal('record_step'), turn: turnRef, step: z.int().min(1), outcome: stepOutcome }),
  /** The turn waits for a person (A5/62). */
  z.object({
    type: z.literal('request_approval'),
    turn: turnRef,
    approvalId: id,
    action: z.string().max(2_000),
    expiresAt: timestamp,
  }),
  /** A person's answer to a pending approval. */
  z.object({
    type: z.literal('resolve_approval'),
    approvalId: id,
    verdict: z.enum(['granted', 'denied']),
    by: z.string().min(1).max(256),
    reason: z.string().max(2_000).optional(),
  }),
]);
export type SessionCommand = z.infer<typeof sessionCommand>;
export type CommandType = SessionCommand['type'];
export type CommandOf<T extends CommandType> = Extract<SessionCommand, { type: T }>;
