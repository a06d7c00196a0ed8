import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { timestamp } from './types.ts';

/**
 * When a session counts as stale (A4/43–52), computed for one message: the rule that applies and its boundary. The router knows
 * the policy and the time zone, the session knows its last update; the session decides.
 */
export const expiry = z.object({
  /** The part of the configuration that applies, such as `session.resetByType.group`. */
  rule: z.string().min(1).max(128),
  /** The most recent daily reset time before the message. */
  dailyBoundaryAt: timestamp.optional(),
  idleMinutes: z.number().min(0).optional(),
  /** Every message starts a new session: isolated cron jobs (A4/57). */
  isolated: z.literal(true).optional(),
});
export type Expiry = z.infer<typeof expiry>;

/** Why somebody goes back to before a message, as a fork or a reset has it in its cause. */
export type RewindReason = 'another text' | 'another answer';

/** Why a session was reset. `boundaryAt` is the moment at which it became stale. */
export const resetCause = z.object({
  trigger: z.enum(['daily', 'idle', 'isolated', 'command', 'api', 'fork']),
  /** The rule, the command word or the given reason that caused it. */
  rule: z.string().max(256),
  boundaryAt: timestamp.optional(),
  lastUpdateAt: timestamp.optional(),
});
export type ResetCause = z.infer<typeof resetCause>;

/** Whether somebody asked for a reset: a rule makes the others, with whatever comes next. */
export const isAskedFor = ({ trigger }: Pick<ResetCause, 'trigger'>): boolean =>
  trigger === 'command' || trigger === 'api' || trigger === 'fork';

/**
 * Why a generation began, and when, for lists; `actor`: who asked for it, absent where a rule began it; `fromSeq`, `fromRev`: as a fork of that
 * commit. Rows that an older version wrote have neither `actor` nor `fromRev`.
 */
export const lastReset = resetCause.pick({ trigger: true, rule: true }).extend({
  ...{ at: z.number(), seq: z.int().min(1), actor: z.string().max(limits.actorCharacters).optional() },
  ...{ fromSeq: z.int().min(1).optional(), fromRev: z.int().min(1).optional() },
});
export type LastReset = z.infer<typeof lastReset>;

/**
 * Why a session last updated at `lastUpdateAt` is stale at `at`, or `null` if it is fresh (A4/45–47). Of two boundaries the
 * earlier one counts. Times in ms.
 */
export const staleness = (
  { rule, dailyBoundaryAt, idleMinutes, isolated }: Expiry,
  lastUpdateAt: number,
  at: number,
): ResetCause | null => {
  if (isolated) return { trigger: 'isolated', rule, lastUpdateAt };
  const daily = dailyBoundaryAt !== undefined && lastUpdateAt < dailyBoundaryAt ? dailyBoundaryAt : Number.POSITIVE_INFINITY;
  const idleEndAt = idleMinutes === undefined ? Number.POSITIVE_INFINITY : lastUpdateAt + idleMinutes * 60_000;
  const idle = idleEndAt < at ? idleEndAt : Number.POSITIVE_INFINITY;
  const boundaryAt = Math.min(daily, idle);
  if (boundaryAt === Number.POSITIVE_INFINITY) return null;
  return { trigger: daily <= idle ? 'daily' : 'idle', rule, boundaryAt, lastUpdateAt };
};
