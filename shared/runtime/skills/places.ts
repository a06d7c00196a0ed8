import { isAbsolute, join, normalize, sep } from 'node:path';
import type { Skill } from '../../domain/skills/skill.ts';
import { NatterError } from '../../kit/errors.ts';
import { quoted } from '../../kit/one-line.ts';
import { usualPath } from '../../kit/process/environment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where programs of skills are installed: in the data directory, so that the system is untouched and everything can be removed.
 */
export const toolPlaces = (dataDir: string) => ({ root: join(dataDir, 'tools'), bin: join(dataDir, 'tools', 'bin') });
export type ToolPlaces = ReturnType<typeof toolPlaces>;

/** The environment with these programs on its path. They come last, so that none replaces a program of the system. */
export const withTools = (env: Environment, dataDir: string | undefined): Environment =>
  dataDir === undefined ? env : { ...env, PATH: `${env.PATH || usualPath}:${toolPlaces(dataDir).bin}` };

/**
 * The target folder of a skill's download, in the skill's own `home`; `targetDir` is relative to it (A15/169). Throws `invalid`.
 */
export const downloadFolder = ({ name }: Skill, targetDir: string, { root }: ToolPlaces): { home: string; target: string } => {
  const path = normalize(targetDir);
  const isOurs = !isAbsolute(path) && !path.split(sep).includes('..') && path !== '.' && !/[\0\\~]/.test(path);
  const home = join(root, 'skills', name);
  if (isOurs) return { home, target: join(home, path) };
  throw new NatterError('invalid', `install: targetDir: ${quoted(targetDir)} is outside the skill's own folder of tools`, {
    field: 'targetDir',
  });
};
