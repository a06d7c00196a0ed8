import type { Config } from '../../../shared/domain/config/schema.ts';
import { isGroupKey } from '../../../shared/domain/keys/session-key.ts';
import type { ToolSource } from '../../../shared/ports/tool-source.ts';
import type { MemoryReader } from '../memory/reader.ts';
import { addTool, forgetTool, shareTool } from './memory-change.ts';
import { getTool, searchTool } from './memory-look.ts';

export interface MemoryToolsOptions {
  readonly config: Pick<Config, 'memory'>;
  readonly memory: MemoryReader;
}

/**
 * The tools of the long-term memory (A7/82). To look is allowed. To add is too, but in a group a person is asked: what one of its members gets the
 * model to remember stands in the prompts of all. To forget is asked about, unless the owner says so; to share always.
 */
export const memoryTools = ({ config, memory }: MemoryToolsOptions): ToolSource => {
  const looking = [searchTool(memory), getTool(memory)];
  const sharing = shareTool(memory);
  const adding = { allow: addTool(memory, 'allow'), ask: addTool(memory, 'ask') };
  const forgetting = { allow: forgetTool(memory, 'allow'), ask: forgetTool(memory, 'ask') };
  return {
    of: ({ key, sender }) => {
      if (!config.memory.enabled) return [];
      const add = adding[isGroupKey(key) ? 'ask' : 'allow'];
      return sender.role === 'owner' ? [...looking, add, sharing, forgetting.allow] : [...looking, add, forgetting.ask];
    },
    problems: () => [],
    close: async () => {},
  };
};
