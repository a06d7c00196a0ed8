import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { withoutSecrets } from '../../domain/config/schema-text.ts';
import { canonical } from '../../kit/comparison.ts';
import { type Config, type ConfigSource, configFileOf, variablesIn } from './load.ts';
import { linesOf } from './locate.ts';

/** Where the value of each key comes from. */
export interface Origins {
  /** The path of the file; `null`: there is none, and all is from the environment and defaults. */
  readonly file: string | null;
  /** `NATTER_PORT`, or `line 12`, by the path of the key. A key that is not here has its default. */
  readonly byPath: ReadonlyMap<string, string>;
}

/** Reads the file as it is now. Never throws: a file that cannot be read has no lines. */
export const originsOf = (source: ConfigSource): Origins => {
  const { path } = configFileOf(source);
  const file = existsSync(path) ? path : null;
  const fromFile = [...linesIn(file)].map(([key, line]) => [key, `line ${line}`] as const);
  return { file, byPath: new Map([...fromFile, ...variablesIn(source.env)]) };
};

const linesIn = (file: string | null): ReadonlyMap<string, number> => {
  try {
    return file === null ? new Map() : linesOf(readFileSync(file, 'utf8'));
  } catch {
    return new Map();
  }
};

/** Hexadecimal digits: enough to see a difference, and nothing can be read back. */
const digits = 12;
const known = new WeakMap<Config, Readonly<Record<string, string>>>();

/** A digest of each section of the configuration, without its secrets: processes compare them. */
export const sectionDigests = (config: Config): Readonly<Record<string, string>> => {
  const before = known.get(config);
  if (before) return before;
  const sections = Object.entries(withoutSecrets(config) as object);
  const made = Object.fromEntries(
    sections.map(([name, value]) => [name, hash('sha256', canonical(value ?? null)).slice(0, digits)]),
  );
  known.set(config, made);
  return made;
};
