import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../../services/cli/commands/program.ts';
import type { World } from '../../../services/cli/terminal.ts';

/** What npm makes of our dependencies: in a clone it follows the lock file and `overrides`, in `npm install -g natter-*.tgz` neither. */

interface Entry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly engines?: { readonly node?: string };
}
const readJson = (path: string) => JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'));
const manifest = readJson('package.json') as {
  readonly name: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly bundledWhenPacked: readonly string[];
  readonly bundleDependencies?: readonly string[];
  readonly overrides: Readonly<Record<string, string>>;
};
const locked = readJson('package-lock.json').packages as Readonly<Record<string, Entry>>;

/** The packages that come with these, by their paths in the lock file. */
const withTheirs = (names: readonly string[]): Set<string> => {
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    const nested = `${from}/node_modules/${name}`;
    const path = Object.hasOwn(locked, nested) ? nested : `node_modules/${name}`;
    if (found.has(path)) return;
    found.add(path);
    for (const needed of Object.keys(locked[path]?.dependencies ?? {})) visit(needed, path);
  };
  for (const name of names) visit(name, '');
  return found;
};
const installed = withTheirs(Object.keys(manifest.dependencies));
const bundled = withTheirs(manifest.bundledWhenPacked);

/** The packages that want another version of one that we override. */
const overridden = (paths: ReadonlySet<string>): string[] =>
  [...paths].filter((path) =>
    Object.keys(locked[path]?.dependencies ?? {}).some((name) => Object.hasOwn(manifest.overrides, name)),
  );

describe('npm installs us without a word', () => {
  test('no package has an install script, so npm has nothing to warn of', () => {
    expect(installed.size).toBeGreaterThan(100);
    expect(Object.entries(locked).filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev)).toEqual([]);
    // It has an optional part with such a script. It comes from our tarball, where npm does not look for that part.
    expect(bundled).toContain('node_modules/msgpackr');
    expect(Object.keys(locked).filter((path) => path.includes('msgpackr-extract'))).toEqual([]);
  });

  test('whoever needs another version than npm would choose comes in our tarball: `overrides` count for the root alone', () => {
    const needing = overridden(installed);
    expect(needing).toEqual(expect.arrayContaining(['node_modules/light-my-request', 'node_modules/@nats-io/nats-core']));
    expect(needing.filter((path) => !bundled.has(path))).toEqual([]);
  });

  test('in a clone nothing is bundled: `npm ci` would take minutes', () => {
    expect(manifest.bundleDependencies).toBeUndefined();
    expect(locked[''] && Object.keys(locked[''])).not.toContain('bundleDependencies');
  });

  test('every package runs on the oldest Node that we name', () => {
    const wantsNewer = (range = ''): boolean =>
      range !== '' && !range.split('||').some((part) => Number(/(\d+)/.exec(part)?.[1] ?? 0) <= 20);
    expect(wantsNewer('>= 22.x')).toBe(true);
    expect([...installed].filter((path) => wantsNewer(locked[path]?.engines?.node))).toEqual([]);
  });
});

test('the README installs what npm packs, and its next commands are there', async () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const [, file = '', commands = ''] =
    /npm install -g \.\/([\w-]+)\*\.tgz .*: npm ci && npm pack\n((?:natter .*\n)+)/.exec(readme) ?? [];
  expect(`${manifest.name}-0`.startsWith(file)).toBe(true);
  expect(Object.keys(manifest.bin)).toEqual(['natter']);
  const program = await createProgram({ version: '1' } as World);
  const names = program.commands.map((command) => command.name());
  const called = [...commands.matchAll(/^natter (\w+)/gm)].map(([, name]) => name);
  expect(called).toEqual(['init', 'up']);
  expect(names).toEqual(expect.arrayContaining(called));
});
