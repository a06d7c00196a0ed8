import { type Skill, skillSources } from '../../domain/skills/skill.ts';

/** The commands that call skills (A15/148): `/<command> …` or `/skill <command> …`. */

const commandCharacters = 32;

/** A name as a command: lower-case letters, digits and `_`. */
export const commandName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, commandCharacters);

/**
 * The skills that people may call, by command. When two skills share a name, the one with the lower precedence gets a number, as
 * does a skill whose name is reserved. A name without usable characters becomes `skill`.
 */
export const skillCommands = (skills: readonly Skill[], reserved: ReadonlySet<string>): ReadonlyMap<string, Skill> => {
  const commands = new Map<string, Skill>();
  const isTaken = (name: string): boolean => reserved.has(name) || commands.has(name);
  const placeOf = ({ source }: Skill): number => skillSources.indexOf(source);
  for (const skill of [...skills].sort((one, other) => placeOf(one) - placeOf(other))) {
    if (!skill.manifest.userInvocable) continue;
    const base = commandName(skill.name) || 'skill';
    let name = base;
    for (let number = 2; isTaken(name); number++) name = `${base.slice(0, commandCharacters - 4)}_${number}`;
    commands.set(name, skill);
  }
  return commands;
};
