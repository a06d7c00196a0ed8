import { type Skill, skillSources } from '../../domain/skills/skill.ts';

/** The commands that people call skills by (A15/148): `/<command> …` or `/skill <command> …`. */

const commandCharacters = 32;

/** A name as it is typed: small letters, digits and `_`. */
export const commandName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, commandCharacters);

/**
 * Each skill that people may call, by its command. Of two that come to the same the one whose place comes later, and one that comes to a
 * word of Natter's own, has a number behind it; one whose name has no letter or digit that can be typed is called `skill`.
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
