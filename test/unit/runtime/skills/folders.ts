import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { manifestOf } from '../../../../shared/domain/skills/manifest.ts';
import type { Skill, SkillSource } from '../../../../shared/domain/skills/skill.ts';
import type { SkillFacts } from '../../../../shared/runtime/skills/gate.ts';

/** A folder for one test, removed by `remove`. */
export const temporaryFolder = () => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'natter-skills-')));
  return {
    path,
    at: (...parts: string[]): string => join(path, ...parts),
    write: (file: string, text: string): string => {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), text);
      return join(path, file);
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
};
export type TemporaryFolder = ReturnType<typeof temporaryFolder>;

/** The text of a `SKILL.md`. */
export const skillText = (name: string, more = '', body = `Do ${name}.`): string =>
  `---\nname: ${name}\ndescription: What ${name} does.\n${more}${more === '' ? '' : '\n'}---\n${body}\n`;

/** A skill that was read, with these fields of its front matter; those of `ours` are in `metadata.natter`. */
export const skillOf = (
  name: string,
  ours: object = {},
  { source = 'workspace', plugin, ...fields }: { source?: SkillSource; plugin?: string; [field: string]: unknown } = {},
): Skill => ({
  name,
  source,
  ...(plugin !== undefined && { plugin }),
  folder: `/skills/${name}`,
  location: `skills/${name}/SKILL.md`,
  digest: 'd'.repeat(64),
  manifest: manifestOf({ name, description: `What ${name} does.`, metadata: { natter: ours }, ...fields }),
});

/** A Linux machine with `git` and a workspace; `settings` are those of `skills` in the configuration. */
export const factsWith = (settings: object = {}, change: Partial<SkillFacts> = {}, more: object = {}): SkillFacts => ({
  os: 'linux',
  hasProgram: (name) => name === 'git',
  programEnv: new Set(['PATH', 'HOME', 'LANG']),
  env: {},
  config: configSchema.parse({ agent: { workspace: '/workspace' }, skills: settings, ...more }),
  ...change,
});
