import type { Clock } from '../../../shared/kit/clock.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { aborted } from '../../../shared/kit/signal.ts';
import type { Tool, ToolEnd, ToolRun } from '../../../shared/ports/tools.ts';

interface ToolRunOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Aborts when the attempt ends. */
  readonly signal: AbortSignal;
}

/** Runs a tool. Always resolves, within `timeoutMs`: a tool that throws has failed; one that is late is told to stop and not waited for. */
export const runTool = async (tool: Tool, run: ToolRun, { clock, timeoutMs, signal }: ToolRunOptions): Promise<ToolEnd> => {
  const giveUp = new AbortController();
  const over = new AbortController();
  const stop = (): void => {
    giveUp.abort(aborted);
    over.abort(aborted);
  };
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const ended = Promise.resolve()
    .then(() => tool.run(run, giveUp.signal))
    .catch((error: unknown): ToolEnd => ({ outcome: 'error', text: errorMessage(error) }));
  const end = await Promise.race([ended, clock.sleep(timeoutMs, over.signal)]);
  signal.removeEventListener('abort', stop);
  over.abort(aborted);
  if (end !== undefined) return end;
  giveUp.abort(aborted);
  const unsure = tool.idempotent ? '' : '; it may have taken effect all the same';
  return { outcome: 'error', text: `timed out after ${timeoutMs} ms${unsure}` };
};
