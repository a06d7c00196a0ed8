import { isTracing, traced } from '../../../shared/kit/trace.ts';
import type { Attempt } from './attempt.ts';
import { turnSpan } from './spans.ts';

/** Runs an attempt within the trace of its run, wherever that started. */
export const tracedTurn = async (attempt: Attempt, run: () => Promise<void>): Promise<void> => {
  if (!isTracing()) return run();
  const { traces } = attempt.services;
  const [oldest = 1] = attempt.state.position.window;
  const parent = (await traces?.of(attempt.key, attempt.ref.id, oldest - 1)) ?? null;
  return traced(() => turnSpan(attempt, parent), run);
};
