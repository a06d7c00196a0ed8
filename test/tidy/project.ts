import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** The project's own files as text, for the tests that hold its architecture and style. */

export const root = new URL('../..', import.meta.url).pathname;
export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const folders = ['shared', 'services', 'test', 'docs', '.ci'];
const filesIn = (folder: string): string[] =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`)
    : [];

/** Every file of the project, as a path from its root. */
export const files: readonly string[] = [
  ...readdirSync(root).filter((name) => /\.\w+$/.test(name)),
  ...folders.flatMap(filesIn),
].filter((path) => statSync(join(root, path)).isFile());
export const product: readonly string[] = files.filter((path) => /^(shared|services)\/.*\.(tsx?|mjs)$/.test(path));
/** The rules themselves quote what they forbid. */
export const tests: readonly string[] = files.filter((path) => /^test\/.*\.ts$/.test(path) && !path.startsWith('test/tidy'));
/** Everything a person reads or a program is configured by. */
export const written: readonly string[] = files.filter(
  (path) =>
    /\.(tsx?|mjs|json|md|conf|yml|html|css)$|^\.ci\//.test(path) && path !== 'package-lock.json' && !path.startsWith('test/tidy'),
);

/** The text without its comments. */
const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '');

export interface Import {
  /** A path from the project's root, or a package. */
  readonly from: string;
  readonly typeOnly: boolean;
  readonly names: string;
}
/** What a file imports or re-exports, types included. */
export const importsOf = (path: string, text: string): Import[] =>
  [...withoutComments(text).matchAll(/(?:import|export)\s+(type\s+)?([^'";]*?)\s*from\s+'([^']+)'|import\(\s*'([^']+)'/g)].map(
    ([, type, names = '', from = '', dynamic]) => {
      const target = dynamic ?? from;
      return {
        from: target.startsWith('.') ? normalize(join(dirname(path), target)) : target,
        typeOnly: type !== undefined,
        names,
      };
    },
  );

/** A rule that each file keeps or breaks by itself. */
export interface Rule {
  readonly name: string;
  readonly in: readonly string[];
  /** What breaks the rule in this file. */
  readonly check: (path: string, text: string) => readonly string[];
  /** A file that breaks the rule, so that the rule is known to work. */
  readonly bad: readonly [path: string, text: string];
}
/** Matches of a pattern outside comments. */
export const found = (pattern: RegExp) => (_: string, text: string) =>
  [...withoutComments(text).matchAll(pattern)].map(([match]) => match.trim());
/** Matches of a pattern anywhere. */
export const inAnyText = (pattern: RegExp) => (_: string, text: string) =>
  [...text.matchAll(pattern)].map(([match]) => match.trim());
