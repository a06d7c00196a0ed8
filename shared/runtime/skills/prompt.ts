import type { Skill } from '../../domain/skills/skill.ts';

/**
 * The skills part of a system prompt: 195 characters, plus 97 for each skill besides its name, description and location
 * (A15/168). The model reads the rest itself when it needs it. Skills that only people may call are not listed (A15/149).
 */
export const skillsSection = (skills: readonly ToldSkill[]): string => {
  const told = skills.filter(({ skill }) => skill.manifest.modelInvocable);
  return told.length === 0 ? '' : [...opening, ...told.map(entryOf), '</available_skills>'].join('\n');
};

/** A skill, and the node where its programs run if that is not this machine (A15/167). */
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

/** Characters of the frame around the first skill. */
export const frameCharacters = [...opening, '</available_skills>'].join('\n').length;
/** Characters that one skill adds. */
export const charactersOf = ({ skill, node }: ToldSkill): number => {
  if (!skill.manifest.modelInvocable) return 0;
  const known = characters.get(skill) ?? entryOf({ skill }).length + 1;
  characters.set(skill, known);
  return known + whereText(node).length;
};
/** Cached: a loaded skill never changes. */
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
