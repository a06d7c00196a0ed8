import type { Config } from '../config/schema.ts';
import type { Clock, EventLog } from '../ports.ts';
import type { ToolSource } from './tool-source.ts';

export interface LocalToolsOptions {
  readonly config: Config;
  /** The process's environment, for the variables that programs may have. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly events: EventLog;
  readonly clock: Clock;
}

/** The tools that this process itself has: files, programs, the web, long outputs. Throws `invalid` when they are configured wrongly. */
export const localTools = (_options: LocalToolsOptions): ToolSource => ({
  of: () => [],
  problems: () => [],
  close: async () => {},
});
