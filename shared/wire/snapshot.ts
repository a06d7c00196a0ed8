import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { SessionKey } from '../domain/keys/session-key.ts';
import { queuedTurn } from '../domain/session/events.ts';
import type { PlainState } from '../domain/session/evolve.ts';
import { skillRef } from '../domain/values/memory-edit.ts';
import {
  approvalRequest,
  deliveryTarget,
  forkBase,
  origin,
  promptPart,
  settings,
  spawnedRun,
  turnTask,
} from '../domain/values/types.ts';
import { limits } from '../kit/limits.ts';
import { decode, encode } from './codec.ts';

/** Increase it when the shape or meaning of `PlainState` changes: older snapshots are then ignored and the log is replayed. */
const snapshotSchema = 7;

const count = z.int().min(0);
const id = z.string();

const gap = z.strictObject({
  sessionId: id,
  fromRev: z.int().min(1),
  toRev: z.int().min(1),
  afterSeq: count,
  tries: z.int().min(1),
  asked: z.literal(true).optional(),
});

/** A state as plain data, as stored and as sent. */
export const plainState = z.strictObject({
  status: z.enum(['idle', 'running', 'awaiting_approval', 'inactive']),
  context: z.strictObject({
    sessionId: id,
    generation: count,
    epoch: count,
    messages: count,
    completedTurns: count,
    compactions: count,
    usage: z.strictObject({
      inputTokens: count,
      outputTokens: count,
      totalTokens: count,
      contextTokens: count,
      estimated: z.literal(true).optional(),
      costUsd: z.number().min(0),
    }),
    settings: settings.strict(),
    origin: origin.strict(),
    route: deliveryTarget.nullable(),
    deleted: z.boolean(),
    deletedGeneration: count,
    queue: z.array(queuedTurn.strict()),
    turn: z
      .strictObject({
        id,
        attempt: z.int().min(1),
        messageId: id,
        step: z.int().min(1),
        resumes: count,
        stalls: count,
        calls: z.array(
          z.strictObject({
            callId: id,
            tool: id,
            status: z.enum(['pending', 'started', 'done']),
            attempt: z.int().min(1),
            tries: count,
            runId: id.optional(),
          }),
        ),
        joined: count,
        quietUntil: z.number().optional(),
        merged: z.array(id).optional(),
        deliverTo: deliveryTarget.optional(),
        task: turnTask.optional(),
      })
      .nullable(),
    approval: approvalRequest.strict().nullable(),
    resolved: z.array(z.strictObject({ approvalId: id, verdict: z.enum(['granted', 'denied', 'expired']), by: id })),
    grants: z.array(id),
    prompt: z.array(promptPart.strict()),
    skills: z.array(skillRef.strict()),
    review: z.strictObject({
      messages: count,
      turns: count,
      workingMemory: z.string(),
      description: z.string(),
      notedRev: count,
    }),
    spawned: z.array(spawnedRun.strict()),
  }),
  position: z.strictObject({
    seq: count,
    rev: count,
    digest: id.nullable(),
    chained: z.boolean(),
    at: z.number(),
    interactedAt: z.number(),
    startedRev: count,
    command: z.strictObject({ seq: count, incarnation: z.number() }),
    recentIds: z.array(id),
    window: z.array(count),
    contextSeq: count,
    skips: forkBase.shape.skips,
    covered: z.strictObject({ rev: count, seq: count, gaps: z.array(gap) }),
    startedSeq: count,
  }),
}) satisfies z.ZodType<PlainState, unknown>;

const frame = z.strictObject({
  schema: z.literal(snapshotSchema),
  key: z.string(),
  checksum: z.string(),
  state: z.instanceof(Uint8Array),
});

const checksumOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64url');

/** Encodes a snapshot as plain MessagePack `{ schema, key, checksum, state }`; the checksum covers the encoded state. */
export const encodeSnapshot = (key: SessionKey, state: PlainState): Uint8Array => {
  const bytes = encode(state);
  return encode({ schema: snapshotSchema, key, checksum: checksumOf(bytes), state: bytes }, limits.commitBytes + 1024);
};

/**
 * The state in a snapshot of this key, or `null` on any doubt: another schema or key, a wrong checksum, or an invalid state (I4).
 * Never throws.
 */
export const decodeSnapshot = (key: SessionKey, bytes: Uint8Array): PlainState | null => {
  try {
    const { key: writtenFor, checksum, state } = frame.parse(decode(bytes, limits.commitBytes + 1024));
    if (writtenFor !== key || checksum !== checksumOf(state)) return null;
    return plainState.parse(decode(state));
  } catch {
    return null;
  }
};
