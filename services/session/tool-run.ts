import type { Clock } from '../../shared/kit/clock.ts';
import { errorMessage } from '../../shared/kit/errors.ts';
import type { Tool, ToolEnd, ToolRun } from '../../shared/ports/tools.ts';

interface ToolRunOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Of the attempt. */
  readonly signal: AbortSignal;
}

/** Runs a tool. Always ends, and in time: one that throws has failed, one that takes too long is told to stop and not waited for. */
export const runTool = async (tool: Tool, run: ToolRun, { clock, timeoutMs, signal }: ToolRunOptions): Promise<ToolEnd> => {
  const giveUp = new AbortController();
  const over = new AbortController();
  const ended = Promise.resolve()
    .then(() => tool.run(run, AbortSignal.any([signal, giveUp.signal])))
    .catch((error: unknown): ToolEnd => ({ outcome: 'error', text: errorMessage(error) }));
  const end = await Promise.race([ended, clock.sleep(timeoutMs, AbortSignal.any([signal, over.signal]))]);
  over.abort();
  if (end !== undefined) return end;
  giveUp.abort();
  const unsure = tool.idempotent ? '' : '; it may have taken effect all the same';
  return { outcome: 'error', text: `timed out after ${timeoutMs} ms${unsure}` };
};
