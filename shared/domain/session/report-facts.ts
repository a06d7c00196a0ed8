import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { expiry } from '../values/expiry.ts';
import { skillRef } from '../values/memory-edit.ts';
import { queueRule } from '../values/queue-rule.ts';
import { settings } from '../values/settings.ts';
import { promptPart } from '../values/types.ts';

/**
 * The facts of a report that the configuration provides and the session lacks, for `/status`, `/context`, `/usage` and the
 * commands that show a setting (A11/123–124, B25).
 */
export const reportFacts = z.object({
  kind: z.enum(['status', 'context_list', 'context_detail', 'usage', 'setting']),
  /** The setting to show: its name and label, the command that changes it, and what can be chosen. */
  setting: z
    .object({
      name: settings.keyof(),
      label: z.string().max(64),
      word: z.string().max(32),
      choices: z.array(z.string().max(256)).max(limits.namedChoices),
    })
    .optional(),
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
