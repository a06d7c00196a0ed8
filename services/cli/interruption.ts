import { inspect } from 'node:util';

/** What is needed of Node's `process`. */
export interface InterruptedProcess {
  on(name: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  on(name: 'uncaughtException', listener: (error: unknown) => void): unknown;
  exit(code: number): void;
  exitCode?: number | string | null | undefined;
}

/**
 * The signal of a command that ends when it is asked to. The first SIGINT or SIGTERM asks, the second ends the process. So does an error that
 * nobody caught: what is under way cannot be trusted any more, so the command finishes and hands over as if it were asked to stop, ends with
 * 1, and whoever supervises it starts it again (F24). A command that never asks for the signal ends on the first of them.
 */
export const interruptionOf = (own: InterruptedProcess, say: (line: string) => void): (() => AbortSignal) => {
  let controller: AbortController | null = null;
  const interrupt = (code: number): void => {
    if (controller?.signal.aborted) own.exit(code);
    controller?.abort();
  };
  return () => {
    if (controller === null) {
      controller = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) own.on(signal, () => interrupt(130));
      own.on('uncaughtException', (error) => {
        say(`natter: stops because of an error that nobody caught: ${inspect(error)}`);
        own.exitCode = 1;
        interrupt(1);
      });
    }
    return controller.signal;
  };
};
