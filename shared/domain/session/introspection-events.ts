import { z } from 'zod';
import { checkpointReason, memoryEdit } from '../values/memory-edit.ts';
import { usage } from '../values/types.ts';

const v1 = z.literal(1);
const id = z.string();

/** The covered range, and the reason for the checkpoint. */
const range = {
  v: v1,
  reason: checkpointReason,
  sessionId: id,
  fromRev: z.int().min(1),
  toRev: z.int().min(1),
};

/** The events of checkpoints and introspection, and changes of memories (A7/80–84). */
export const introspectionEvents = [
  /** A checkpoint is requested for the revs `fromRev` to `toRev`, which are after the sequence `afterSeq` (A7/80–81). */
  z.object({
    type: z.literal('checkpoint_requested'),
    ...range,
    afterSeq: z.int().min(0).optional(),
  }),
  /** The range has been introspected, once (A7/84). */
  z.object({
    type: z.literal('introspected'),
    ...range,
    toSeq: z.int().min(1),
    workingMemory: z.string().optional(),
    description: z.string().optional(),
    model: z.string(),
    usage,
  }),
  /** The introspection failed: later ranges proceed without it, and it may be requested again (A7/80). */
  z.object({
    type: z.literal('introspection_failed'),
    ...range,
    toSeq: z.int().min(1).optional(),
    code: z.string(),
    message: z.string(),
  }),
  /** Changes of long-term memory (A7/82): by whom, and caused by what: the range of revs, or the call. */
  z.object({
    type: z.literal('memory_changed'),
    v: v1,
    ...memoryEdit.shape,
    by: z.enum(['introspection', 'agent', 'person']),
    person: id.optional(),
    sessionId: id,
    fromRev: z.int().min(1),
    toRev: z.int().min(1),
    callId: id.optional(),
  }),
] as const;
