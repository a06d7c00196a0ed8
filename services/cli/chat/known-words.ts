import { reservedCommands } from '../../../shared/domain/routing/chat-command.ts';
import { eligibleSet } from '../../../shared/runtime/skills/explain.ts';
import type { CommonOptions } from '../access.ts';
import { readSkills } from '../commands/skills/known.ts';
import type { World } from '../terminal.ts';
import type { Known } from './words.ts';

/** The words that the configuration and the skills of this machine add to the chat commands. `leaving`: what leaving the chat does. */
export const knownWords = async (world: World, options: CommonOptions, leaving: Known['leaving']): Promise<Known> => {
  const { config, explained } = await readSkills(world, options);
  const triggers = config.session.resetTriggers;
  const { commands } = eligibleSet(explained, reservedCommands(triggers));
  const callable = config.agent.workspace === undefined ? [] : [...commands];
  const skills = new Map(callable.map(([name, { manifest }]) => [name, manifest.description]));
  return { skills, triggers, leaving, hasPrograms: config.tools.exec.enabled };
};
