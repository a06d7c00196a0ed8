import { z } from 'zod';
import { limits } from '../../kit/limits.ts';

/** Schemas of memory changes, checkpoint reasons and skill references (A7/80–84, A15/166). */

/**
 * Who shares a memory (A7/82): all sessions of the agent, the sessions of one person alone, or only the session in which it was
 * made. `person` names the principal.
 */
export const memoryScope = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('agent') }),
  z.object({ kind: z.literal('person'), principal: z.string().min(1).max(512) }),
  z.object({ kind: z.literal('session') }),
]);
export type MemoryScope = z.infer<typeof memoryScope>;

const memoryId = z.string().min(1).max(limits.idCharacters);
const memoryText = z.string().min(1).max(limits.memoryCharacters);
/** Revs of the messages that an introspection bases it on. */
const from = z.array(z.int().min(1)).min(1).max(limits.introspectionChanges).optional();
/** A change of long-term memory. A new memory's id derives from where it is recorded: `<seq>-<number in the commit>`. */
export const memoryChange = z.discriminatedUnion('op', [
  z.object({ op: z.literal('add'), scope: memoryScope, text: memoryText, from }),
  z.object({ op: z.literal('update'), id: memoryId, text: memoryText, from }),
  z.object({ op: z.literal('forget'), id: memoryId, reason: z.string().max(500), from }),
]);
export type MemoryChange = z.infer<typeof memoryChange>;
/** Changes with the scopes that their author may touch; memories outside of these scopes stay as they are. */
export const memoryEdit = z.object({
  changes: z.array(memoryChange).min(1).max(limits.memoryChanges),
  reach: z.array(memoryScope).max(8),
});
export type MemoryEdit = z.infer<typeof memoryEdit>;

/** Why a checkpoint was requested (A7/81). */
export const checkpointReason = z.enum(['manual', 'new_session', 'turn_limit', 'idle']);
export type CheckpointReason = z.infer<typeof checkpointReason>;

/** A skill of a session (A15/166). `digest` is the SHA-256 (hex) of its description for the model and of its files. */
export const skillRef = z.object({ name: z.string().min(1).max(64), digest: z.string().length(64) });
export type SkillRef = z.infer<typeof skillRef>;
