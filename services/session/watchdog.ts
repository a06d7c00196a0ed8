import type { Attempt } from './attempt.ts';

/**
 * Resolves with true when the attempt has made no progress for `agent.stallMs`: no piece of text, no recorded command, no tool that ended
 * (B29). False: it was stopped first. One timer, and only while a turn runs.
 */
export const standsStill = async (attempt: Attempt, signal: AbortSignal): Promise<boolean> => {
  const { clock, config } = attempt.services;
  while (!signal.aborted) {
    const leftMs = attempt.progressAt + config.agent.stallMs - clock.monotonic();
    if (leftMs <= 0) return true;
    await clock.sleep(leftMs, signal);
  }
  return false;
};
