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
 * The tools for long-term memory (A7/82). Reading is allowed. Adding is allowed too, but needs an approval in a group, because
 * what one member gets the model to remember goes into the prompts of all. Forgetting needs an approval unless the owner asks for
 * it; sharing always does.
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
