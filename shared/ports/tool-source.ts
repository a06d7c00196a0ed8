import type { Tool, ToolScope } from './tools.ts';

/** A source of tools: this process, the sessions, an MCP server. `createTools` joins several. */
export interface ToolSource {
  /** The tools that a session has now. */
  of(scope: Pick<ToolScope, 'key' | 'sender'>): readonly Tool[];
  /** Why expected tools are missing. Empty if there is no problem. */
  problems(): readonly string[];
  /** Ends what is still running. */
  close(): Promise<void>;
}
