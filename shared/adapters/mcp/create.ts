import type { Config } from '../../domain/config/schema.ts';
import type { Clock } from '../../kit/clock.ts';
import { limits } from '../../kit/limits.ts';
import type { Logger } from '../../kit/log.ts';
import { checkEnvironment } from '../../kit/process/environment.ts';
import type { ToolSource } from '../../ports/tool-source.ts';
import type { McpServer } from './server.ts';

export interface McpOptions {
  /** The environment from which servers may be given variables by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  readonly clock: Clock;
  /** Natter's version. */
  readonly version: string;
  /** Timeout of one call. */
  readonly timeoutMs: number;
}

/**
 * The tools of the MCP servers. `started` resolves when each server is connected or has failed once, and after
 * `limits.mcpHeadStartMs` at the latest.
 */
export interface McpSource extends ToolSource {
  readonly started: Promise<void>;
}

/**
 * Starts the configured MCP servers in the background and offers their tools as `<server>__<tool>`. Throws `invalid` when a
 * program is configured to get a forbidden variable; all other failures are reported by `problems`.
 */
export const createMcp = async ({ servers, startMs }: Config['mcp'], options: McpOptions): Promise<McpSource> => {
  const entries = Object.entries(servers);
  for (const [name, { environment }] of entries) checkEnvironment(environment, `mcp.servers.${name}.environment`);
  // The library is loaded only where there is a server.
  const mcpServers = entries.length === 0 ? [] : await startServers(entries, { ...options, startMs });
  return {
    of: () => mcpServers.flatMap(({ tools }) => tools),
    problems: () => mcpServers.flatMap((server) => server.problems()),
    close: async () => {
      await Promise.all(mcpServers.map((server) => server.close()));
    },
    started: headStart(mcpServers, options.clock),
  };
};

const startServers = async (
  entries: [string, Config['mcp']['servers'][string]][],
  options: McpOptions & { readonly startMs: number },
): Promise<McpServer[]> => {
  const { McpServer } = await import('./server.ts');
  return entries.map(([name, settings]) => new McpServer(name, settings, options));
};

const headStart = async (mcpServers: readonly McpServer[], clock: Clock): Promise<void> => {
  const settled = new AbortController();
  void Promise.all(mcpServers.map(({ started }) => started)).then(() => settled.abort());
  await clock.sleep(limits.mcpHeadStartMs, settled.signal);
};
