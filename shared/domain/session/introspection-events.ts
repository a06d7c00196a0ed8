import { z } from 'zod';
import { checkpointReason, memoryEdit } from '../values/memory-edit.ts';
import { usage } from '../values/types.ts';

const v1 = z.literal(1);
const id = z.string();

/** What is looked back on, and why. */
const range = {
  v: v1,
  reason: checkpointReason,
  sessionId: id,
  fromRev: z.int().min(1),
  toRev: z.int().min(1),
};

/** What looking back on a session leaves in its log, and what becomes of its memories (A7/80–84). */
export const reviewEvents = [
  /** What was said between two revs of this session, and after that sequence, is to be looked back on (A7/80–81). */
  z.object({
    type: z.literal('checkpoint_requested'),
    ...range,
    afterSeq: z.int().min(0).optional(),
  }),
  /** What was said between these revs has been looked back on, once (A7/84). */
  z.object({
    type: z.literal('introspected'),
    ...range,
    toSeq: z.int().min(1),
    workingMemory: z.string().optional(),
    description: z.string().optional(),
    model: z.string(),
    usage,
  }),
  /** The look back came to nothing: what is behind it goes on without it, and it may be asked for again (A7/80). */
  z.object({
    type: z.literal('introspection_failed'),
    ...range,
    toSeq: z.int().min(1).optional(),
    code: z.string(),
    message: z.string(),
  }),
  /** What is remembered from here on (A7/82), by whom, and what led to it: those revs of this session, or the call. */
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
