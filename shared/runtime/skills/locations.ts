import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import JSON5 from 'json5';
import { z } from 'zod';
import type { Config } from '../../domain/config/schema.ts';
import type { SkillSource } from '../../domain/skills/skill.ts';
import { errorMessage } from '../../kit/errors.ts';
import { isWithin } from './folder.ts';

/** A folder that contains skill folders. */
export interface SkillRoot {
  readonly source: SkillSource;
  readonly plugin?: string;
  readonly path: string;
  /** Its path relative to the workspace, if it is inside. */
  readonly inWorkspace?: string;
  /** Why it cannot be used. */
  readonly problem?: string;
}

/** The folders with skills, highest precedence first (A15/143–145, 163; B31). Paths in the configuration are absolute. */
export const skillRoots = (
  { agent: { workspace }, skills, dataDir }: Pick<Config, 'agent' | 'skills' | 'dataDir'>,
  bundled = bundledFolder(),
): SkillRoot[] => {
  const managed = skills.managedDir ?? (dataDir === undefined ? undefined : join(dataDir, 'skills'));
  const own = (source: SkillSource, inWorkspace: string): SkillRoot[] =>
    workspace === undefined ? [] : [{ source, path: join(workspace, inWorkspace), inWorkspace }];
  return [
    ...own('workspace', 'skills'),
    ...own('agents', '.agents/skills'),
    ...(managed === undefined ? [] : [{ source: 'managed', path: managed } as const]),
    { source: 'bundled', path: bundled },
    ...Object.entries(skills.plugins).flatMap(([name, plugin]) => (plugin.enabled ? pluginRoots(name, plugin.path) : [])),
    ...skills.load.extraDirs.map((path) => ({ source: 'extra', path }) as const),
  ];
};

/** The bundled skills: in the folder of the package, wherever in it this file is. */
const bundledFolder = (): string => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return join(folder, 'skills');
};

const manifestFile = 'natter.plugin.json';
const pluginManifest = z.object({ skills: z.array(z.string().min(1).max(1_024)).max(32).default([]) });
const manifestBytes = 64 * 1024;

/** The folders named by a plugin's manifest, all of them inside the plugin's own. */
const pluginRoots = (plugin: string, path: string): SkillRoot[] => {
  const named = { source: 'plugin', plugin } as const;
  try {
    const file = join(path, manifestFile);
    if (lstatSync(file).size > manifestBytes) throw new Error(`${manifestFile} is larger than ${manifestBytes} bytes`);
    const { skills } = pluginManifest.parse(JSON5.parse(readFileSync(file, 'utf8')));
    const real = realpathSync.native(path);
    return skills.map((folder) => {
      const place = join(real, folder);
      const isOurs = isWithin(real, place) && (!existsSync(place) || isWithin(real, realpathSync.native(place)));
      return {
        ...named,
        path: place,
        ...(!isOurs && { problem: `${manifestFile}: "${folder}" points out of the plugin's folder` }),
      };
    });
  } catch (error) {
    return [{ ...named, path, problem: `${manifestFile} cannot be read: ${errorMessage(error)}` }];
  }
};
