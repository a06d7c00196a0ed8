import type { CommandAnswer } from '../../domain/session/envelope.ts';
import type { Clock } from '../../kit/clock.ts';
import { NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import type { Answers } from '../../ports/answers.ts';
import { answerCodec } from '../../wire/records.ts';
import { type Ephemera, isInbox } from './ephemera.ts';

/**
 * Outcomes of commands over one subscription to `address`, an inbox of this process alone. The number of concurrent waits is
 * bounded; beyond it they are refused as `overloaded`.
 */
export const createAnswers = (ephemera: Ephemera, clock: Clock, address: string): Answers & { close(): void } => {
  const waits = new Map<string, Set<(answer: CommandAnswer) => void>>();
  let waiting = 0;

  const receive = (bytes: Uint8Array): void => {
    const answer = orNull(() => answerCodec.decode(bytes));
    if (answer === null) return;
    for (const settle of waits.get(answer.commandId) ?? []) settle(answer);
  };
  const close = ephemera.subscribe(address, receive);

  const hear: Answers['hear'] = (commandId, settle) => {
    if (waiting >= limits.waitingCalls)
      throw new NatterError('overloaded', `${waiting} calls are already waiting for an answer`, { retryAfterMs: 1_000 });
    const others = waits.get(commandId) ?? new Set();
    waits.set(commandId, others.add(settle));
    waiting++;
    return () => {
      waiting--;
      others.delete(settle);
      if (others.size === 0) waits.delete(commandId);
    };
  };

  return {
    address,
    hear,
    wait: async (commandId, timeoutMs) => {
      const answered = new AbortController();
      let answer: CommandAnswer | null = null;
      const forget = hear(commandId, (heard) => {
        answer = heard;
        answered.abort(null); // A reason of our own: the default would be an exception with a stack trace.
      });
      await clock.sleep(timeoutMs, answered.signal);
      forget();
      return answer;
    },
    tell: (answerTo, answer) => {
      const bytes = orNull(() => answerCodec.encode(answer));
      if (bytes !== null && isInbox(answerTo)) ephemera.publish(answerTo, bytes);
    },
    close,
  };
};

/** Anybody may write to an inbox: invalid messages are ignored. */
const orNull = <T>(attempt: () => T): T | null => {
  try {
    return attempt();
  } catch {
    return null;
  }
};
