import type { ToolSource } from '../../../shared/ports/tool-source.ts';
import { sessionsHistoryTool } from './sessions-history.ts';
import { sessionsListTool } from './sessions-list.ts';
import type { SessionToolsOptions } from './sessions-reach.ts';
import { sessionsSendTool } from './sessions-send.ts';
import { maySpawn, sessionsSpawnTool } from './spawn.ts';

/**
 * The tools for other sessions (A10, B3–B5). Tools that could do nothing are not offered: no sending with visibility `self`, no
 * spawning at the maximum depth.
 */
export const sessionTools = (options: SessionToolsOptions): ToolSource => {
  const { config } = options;
  const looking = [sessionsListTool(options), sessionsHistoryTool(options)];
  const sending = config.tools.visibility === 'self' ? [] : [sessionsSendTool(options)];
  const spawning = sessionsSpawnTool(options);
  return {
    of: ({ key }) => [...looking, ...sending, ...(maySpawn(config, key) ? [spawning] : [])],
    problems: () => [],
    close: async () => {},
  };
};
