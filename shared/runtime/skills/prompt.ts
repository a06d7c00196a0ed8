import type { Skill } from '../../domain/skills/skill.ts';

/**
 * What a system prompt says of skills: 195 characters, and for each 97 besides its name, description and location (A15/168). The model reads
 * the rest itself when it needs it. One that people alone may call is not in it (A15/149).
 */
export const skillsSection = (skills: readonly ToldSkill[]): string => {
  const told = skills.filter(({ skill }) => skill.manifest.modelInvocable);
  return told.length === 0 ? '' : [...opening, ...told.map(entryOf), '</available_skills>'].join('\n');
};

/** A skill, and the node that its programs run on if it is not this machine (A15/167). */
export interface ToldSkill {
  readonly skill: Skill;
  readonly node?: string | undefined;
}

const opening = [
  'The following skills provide specialised instructions for specific tasks.',
  "Use read_file to load a skill's whole file when a task matches its description.",
  '',
  '<available_skills>',
];

/** Characters that there are as soon as there is one skill. */
export const frameCharacters = [...opening, '</available_skills>'].join('\n').length;
/** Characters that one skill adds. */
export const charactersOf = ({ skill, node }: ToldSkill): number => {
  if (!skill.manifest.modelInvocable) return 0;
  const known = characters.get(skill) ?? entryOf({ skill }).length + 1;
  characters.set(skill, known);
  return known + whereText(node).length;
};
/** A skill that was read does not change. */
const characters = new WeakMap<Skill, number>();

const whereText = (node: string | undefined): string =>
  node === undefined ? '' : escaped(` (Run its programs on the node "${node}" with nodes.run.)`);
const entryOf = ({ skill: { name, location, manifest }, node }: ToldSkill): string =>
  [
    '  <skill>',
    `    <name>${escaped(name)}</name>`,
    `    <description>${escaped(manifest.description)}${whereText(node)}</description>`,
    `    <location>${escaped(location)}</location>`,
    '  </skill>',
  ].join('\n');

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
