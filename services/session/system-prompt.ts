import type { Config } from '../../shared/config/schema.ts';
import type { ToolSpec } from '../../shared/ports.ts';
import type { PromptPart } from '../../shared/session/types.ts';

export interface SystemPrompt {
  readonly text: string;
  /** What it is made of, and the definitions of the tools, which go with every request too (A11/124). */
  readonly parts: readonly PromptPart[];
}

/** System prompts of all sessions of a host: the configured one and the files of the workspace, which it reads again when they change. */
export class SystemPrompts {
  async read(config: Pick<Config, 'agent'>, _tools: readonly ToolSpec[]): Promise<SystemPrompt> {
    return { text: config.agent.systemPrompt, parts: [] };
  }
}
