import { limits } from '../../kit/limits.ts';
import type { QueueRule } from './queue-rule.ts';
import type { Message, Sender } from './types.ts';

/** What counts here of a turn that waits. */
interface Waiting {
  readonly byStranger?: true | undefined;
  readonly askedBy?: string | undefined;
}

/** A sender who is not the owner, and a program that acts for one. */
export const isStranger = ({ role, onBehalfOf }: Sender): boolean => role === 'participant' || onBehalfOf !== undefined;

/** How many messages of one stranger, and of all together, may wait in a session that several people share (D7, I11). */
export const strangersShare = (limit: number): { readonly each: number; readonly all: number } => ({
  each: Math.ceil(limit / 4),
  all: Math.ceil(limit / 2),
});

/**
 * True if one more message may wait behind the running turn (D7, I11). What strangers have waiting takes none of the owner's room; of theirs they
 * have a share where others want some too. The result of a run was let in with the message that started it.
 */
export const hasRoom = (
  { sender, answers }: Message,
  { limit = limits.queuedTurns, shared }: Partial<QueueRule>,
  queue: readonly Waiting[],
): boolean => {
  const strangers = queue.filter(({ byStranger }) => byStranger);
  if (!isStranger(sender)) return queue.length - strangers.length < limit;
  if (queue.length >= limit || !shared || answers !== undefined) return queue.length < limit;
  const { each, all } = strangersShare(limit);
  const own = strangers.filter(({ askedBy }) => askedBy === sender.principal);
  return strangers.length < all && own.length < each;
};
