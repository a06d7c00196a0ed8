import { z } from 'zod';
import { limits } from '../../../kit/limits.ts';

/**
 * A call whose client counts its attempts and sends no key: `fingerprint` stands for the caller, the session and the body, `attempt` is 0 the
 * first time. So a client's own retry is told apart from a person who says the same thing twice.
 */
export const callAttempt = z.object({ fingerprint: z.string().min(1).max(32), attempt: z.int().min(0).max(1_000) });
export type CallAttempt = z.infer<typeof callAttempt>;

/** A call that has taken effect, as the command `id`. */
export interface AskedCall extends CallAttempt {
  readonly id: string;
  readonly at: number;
}

/** The command as which the call has taken effect already. A first attempt that was overtaken by its own retry is a repeat too. */
export const askedBefore = (calls: readonly AskedCall[], { fingerprint, attempt }: CallAttempt, at: number): string | null => {
  const first = calls.findLast((call) => call.fingerprint === fingerprint);
  if (first === undefined || at - first.at > limits.askedCallMs) return null;
  return attempt > 0 || first.attempt > 0 ? first.id : null;
};

/** The calls with one more. */
export const withAskedCall = (calls: readonly AskedCall[], call: AskedCall): readonly AskedCall[] =>
  [...calls.filter(({ fingerprint, at }) => fingerprint !== call.fingerprint && call.at - at <= limits.askedCallMs), call].slice(
    -limits.askedCalls,
  );
