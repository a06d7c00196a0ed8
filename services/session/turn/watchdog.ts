import type { Attempt } from './attempt.ts';

/**
 * Resolves to true when the attempt has made no progress for `agent.stallMs`: no text, no recorded command, no tool that runs or has just
 * ended, since a tool has its own deadline (B29). Resolves to false if the attempt stops first. One timer, and only while a turn runs.
 */
export const isStalled = async (attempt: Attempt, signal: AbortSignal): Promise<boolean> => {
  const { clock, config } = attempt.services;
  const left = (): number => attempt.progressAt + config.agent.stallMs - clock.monotonic();
  // It sleeps only while time is left, so it cannot spin.
  for (let leftMs = left(); leftMs > 0 && !signal.aborted; leftMs = left()) await clock.sleep(leftMs, signal);
  return !signal.aborted;
};
