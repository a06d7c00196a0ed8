import type { Attempt } from './attempt.ts';

/**
 * Resolves with true when the attempt has made no progress for `agent.stallMs`: no piece of text, no recorded command, no tool that runs
 * or ended, for a tool has a deadline of its own (B29). False: it was stopped first. One timer, and only while a turn runs.
 */
export const standsStill = async (attempt: Attempt, signal: AbortSignal): Promise<boolean> => {
  const { clock, config } = attempt.services;
  const left = (): number => attempt.progressAt + config.agent.stallMs - clock.monotonic();
  // It sleeps as long as there is time left, and never without: whatever the times are, this cannot spin.
  for (let leftMs = left(); leftMs > 0 && !signal.aborted; leftMs = left()) await clock.sleep(leftMs, signal);
  return !signal.aborted;
};
