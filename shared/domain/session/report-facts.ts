import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { expiry } from '../values/expiry.ts';
import { skillRef } from '../values/memory-edit.ts';
import { promptPart, queueRule } from '../values/types.ts';

/** The facts of a report that the configuration provides and the session lacks, for `/status` and `/context` (A11/123–124). */
export const reportFacts = z.object({
  kind: z.enum(['status', 'context_list', 'context_detail']),
  model: z.string().max(256),
  /** The parts of the system prompt for the next step; used until a model step has recorded its own. */
  parts: z.array(promptPart).max(limits.promptParts),
  /** The tools and skills that the next step would have, as the session's host adds them (D4). */
  tools: z.array(promptPart).max(limits.offeredTools).optional(),
  skills: z.array(skillRef).max(limits.sessionSkills).optional(),
  /** The model's context window in tokens, and those of models that differ from it. */
  windowTokens: z.int().min(1).optional(),
  windows: z.record(z.string().max(256), z.int().min(1)).optional(),
  /** What a message does when a turn is already running (B6). */
  queueMode: queueRule.shape.mode.optional(),
  /** The next daily reset as text, and the expiry that a message would carry now (A4/43). */
  nextDaily: z.string().max(64).optional(),
  expiry: expiry.optional(),
  /** Risks of this configuration to warn about. */
  warnings: z.array(z.string().max(500)).max(20),
});
export type ReportFacts = z.infer<typeof reportFacts>;
