import type { ToolSource } from '../../../shared/ports/tool-source.ts';
import { sessionsHistoryTool } from './sessions-history.ts';
import { sessionsListTool } from './sessions-list.ts';
import type { SessionToolsOptions } from './sessions-reach.ts';
import { sessionsSendTool } from './sessions-send.ts';
import { maySpawn, sessionsSpawnTool } from './spawn.ts';

/**
 * The tools by which a model knows of other sessions (A10, B3–B5). None is offered that could do nothing: with visibility `self` there is
 * nobody to send to, and who is nested as deep as may be begins no others.
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
