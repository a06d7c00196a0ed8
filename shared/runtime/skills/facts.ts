import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Config } from '../../domain/config/schema.ts';
import { programEnvironment } from '../../kit/process/environment.ts';
import type { SkillFacts } from './gate.ts';

/**
 * Returns a function that gives the current facts about this machine; only the installed programs can change. `env`: the
 * process's environment.
 */
export const machineFacts = (
  config: Pick<Config, 'agent' | 'skills' | 'tools'>,
  env: Readonly<Record<string, string | undefined>>,
): (() => SkillFacts) => {
  const { PATH = '', ...given } = programEnvironment(env, config.tools.exec.environment, '');
  const programsOn = programFinder();
  const lasting = { os: process.platform, env, config, programEnv: new Set(['PATH', ...Object.keys(given)]) };
  return () => ({ ...lasting, hasProgram: programsOn(PATH) });
};

/**
 * Finds programs by the files on a path, without a shell (A15/154). A folder is listed again only when it has changed, and
 * answers are cached per call of the outer function.
 */
export const programFinder = (): ((path: string) => (name: string) => boolean) => {
  const listings = new Map<string, Listing>();
  const listingOf = (folder: string): Listing => {
    const stat = statSync(folder, { throwIfNoEntry: false });
    // A link may point to another folder now. `mtime` can be set by anyone, `ctime` cannot.
    const stamp = stat ? `${stat.dev} ${stat.ino} ${stat.ctimeMs}` : '';
    const known = listings.get(folder);
    if (known?.stamp === stamp) return known;
    const listing = { folder, stamp, names: namesIn(folder) };
    listings.set(folder, listing);
    return listing;
  };
  return (path) => {
    let folders: readonly Listing[] | null = null;
    const answers = new Map<string, boolean>();
    return (name) => {
      folders ??= path.split(delimiter).filter(isAbsolute).map(listingOf);
      const answer = answers.get(name) ?? folders.some(({ folder, names }) => names.has(name) && isProgram(join(folder, name)));
      answers.set(name, answer);
      return answer;
    };
  };
};

interface Listing {
  readonly folder: string;
  readonly stamp: string;
  readonly names: ReadonlySet<string>;
}
const namesIn = (folder: string): ReadonlySet<string> => {
  try {
    return new Set(readdirSync(folder));
  } catch {
    return new Set();
  }
};

const isProgram = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
};
