import { z } from 'zod';
import { limits } from '../../kit/limits.ts';

/** The queue modes. */
export const queueModes = ['followup', 'collect', 'steer', 'interrupt', 'reject'] as const;

/** What each does with a message that arrives while a turn runs. */
export const queueModeLines: Readonly<Record<(typeof queueModes)[number], string>> = {
  followup: 'it waits for a turn of its own',
  collect: 'it waits, and is answered together with the others that wait',
  steer: 'the running turn gets it before its next step',
  interrupt: 'it ends the running turn, and is answered instead',
  reject: 'it is refused',
};

/**
 * What a message does when a turn is already running (B6). `debounceMs`: messages that follow within that time join the turn
 * before its first step.
 */
export const queueRule = z.object({
  mode: z.enum(queueModes),
  /** The message itself chose the mode: the session's own setting does not count. */
  chosen: z.literal(true).optional(),
  limit: z.int().min(0).max(limits.queuedTurns).optional(),
  debounceMs: z.int().min(0).max(60_000).optional(),
  /** Several people share the session: a stranger may take only a part of its queue (D7). */
  shared: z.literal(true).optional(),
});
export type QueueRule = z.infer<typeof queueRule>;
