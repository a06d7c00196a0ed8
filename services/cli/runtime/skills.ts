import { reservedCommands } from '../../../shared/domain/routing/chat-command.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { SkillLibrary } from '../../../shared/runtime/skills/library.ts';
import type { World } from '../terminal.ts';

/** The agent's skills on this machine, which a gateway offers to MCP clients. */
export const openSkills = ({ env }: Pick<World, 'env'>, config: Config, log: Logger): Promise<SkillLibrary> =>
  SkillLibrary.open({ config, env, log, reserved: reservedCommands(config.session.resetTriggers) });
