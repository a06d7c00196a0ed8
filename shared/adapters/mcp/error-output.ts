import type { Clock } from '../../kit/clock.ts';
import { limits } from '../../kit/limits.ts';
import type { Logger } from '../../kit/log.ts';
import { scrubber } from '../../kit/scrub.ts';

const minuteMs = 60_000;
/** More than is logged, so that scrubbing sees a secret as a whole and not cut in two. */
const readCharacters = 4 * limits.mcpLogCharacters;

/** Logs a program's error output line by line, without the secrets it was given, and at a bounded rate. */
export const errorOutput = (log: Logger, clock: Clock, secrets: readonly string[]): ((chunk: Buffer) => void) => {
  const scrub = scrubber(secrets);
  let rest = '';
  let lines = 0;
  let dropped = 0;
  let minute = clock.monotonic();

  const write = (line: string): void => {
    if (clock.monotonic() - minute >= minuteMs) {
      if (dropped > 0) log.warn({ dropped }, 'lines of the MCP server were dropped');
      [minute, lines, dropped] = [clock.monotonic(), 0, 0];
    }
    if (lines++ < limits.mcpLogLines)
      log.info({ line: scrub(line).slice(0, limits.mcpLogCharacters) }, 'output of the MCP server');
    else dropped++;
  };

  return (chunk) => {
    const [first = '', ...others] = chunk.toString('utf8').split('\n');
    const parts = [rest + first, ...others].map((part) => part.slice(0, readCharacters));
    rest = parts.pop() ?? '';
    for (const line of parts) if (line.trim() !== '') write(line);
  };
};
