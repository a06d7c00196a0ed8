import type { Tool, ToolScope } from './tools.ts';

/** Where tools come from: this process, the sessions, an MCP server. `createTools` joins several. */
export interface ToolSource {
  /** Those a session has now. */
  of(scope: Pick<ToolScope, 'key' | 'sender'>): readonly Tool[];
  /** Why some are missing that should be there. Empty: all is well. */
  problems(): readonly string[];
  /** Ends what still runs. */
  close(): Promise<void>;
}
