import { z } from 'zod';
import type { SessionKey } from '../domain/keys/session-key.ts';
import { arrivals } from '../domain/session/arrivals.ts';
import type { ShownState } from '../domain/session/fold/evolve.ts';
import { askedBy, queuedTurn } from '../domain/session/queued-turn.ts';
import { forkBase } from '../domain/values/fork-base.ts';
import { skillRef } from '../domain/values/memory-edit.ts';
import { settings } from '../domain/values/settings.ts';
import { approvalRequest, deliveryTarget, origin, promptPart, spawnedRun, turnTask } from '../domain/values/types.ts';
import { limits } from '../kit/limits.ts';
import type { Snapshot } from '../ports/snapshots.ts';
import { decode, encode } from './codec.ts';

/** Increase it when the shape or meaning of `PlainState` changes: older snapshots are then ignored and the log is replayed. */
const snapshotSchema = 10;

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

/** A state as plain data. */
const plainState = z.strictObject({
  status: z.enum(['idle', 'running', 'awaiting_approval', 'awaiting_results', 'inactive']),
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
            client: z.literal(true).optional(),
            runId: id.optional(),
          }),
        ),
        joined: count,
        quietUntil: z.number().optional(),
        merged: z.array(id).optional(),
        deliverTo: deliveryTarget.optional(),
        task: turnTask.optional(),
        askedBy,
        resultsUntil: z.number().optional(),
      })
      .nullable(),
    approval: approvalRequest.strict().nullable(),
    questions: z.array(approvalRequest.strict()),
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
    ...arrivals.shape,
    window: z.array(count),
    contextSeq: count,
    skips: forkBase.shape.skips,
    covered: z.strictObject({ rev: count, seq: count, gaps: z.array(gap) }),
    startedSeq: count,
  }),
});
const storedState = plainState.extend({ damaged: z.literal(true).optional() }) satisfies z.ZodType<Snapshot, unknown>;

/** A state as it is sent. */
export const shownState = plainState.extend({
  position: plainState.shape.position.extend({ olderIds: count }),
}) satisfies z.ZodType<ShownState, unknown>;

const frame = z.strictObject({
  schema: z.literal(snapshotSchema),
  key: z.string(),
  signature: z.instanceof(Uint8Array),
  state: z.instanceof(Uint8Array),
});

/** Signs snapshots, and knows those that it signed. */
export interface SnapshotSigner {
  /** Throws `NatterError('forbidden')` if it can only check. */
  sign(bytes: Uint8Array): Uint8Array;
  isOurs(bytes: Uint8Array, signature: Uint8Array): boolean;
}

/** What is signed: the session too, so that no snapshot serves for another. */
const signedBytes = (key: SessionKey, state: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(`${snapshotSchema} ${key}\0`), state]);

/** Encodes a snapshot as plain MessagePack `{ schema, key, signature, state }`. Throws as `SnapshotSigner.sign`. */
export const encodeSnapshot = (key: SessionKey, state: Snapshot, signer: SnapshotSigner): Uint8Array => {
  const bytes = encode(state);
  const signature = signer.sign(signedBytes(key, bytes));
  return encode({ schema: snapshotSchema, key, signature, state: bytes }, limits.commitBytes + 1024);
};

/**
 * The state in a snapshot of this key, or `null` on any doubt: another schema or key, not signed by us, or an invalid state (I4).
 * Never throws.
 */
export const decodeSnapshot = (key: SessionKey, bytes: Uint8Array, signer: SnapshotSigner): Snapshot | null => {
  try {
    const { key: writtenFor, signature, state } = frame.parse(decode(bytes, limits.commitBytes + 1024));
    if (writtenFor !== key || !signer.isOurs(signedBytes(key, state), signature)) return null;
    return storedState.parse(decode(state));
  } catch {
    return null;
  }
};
