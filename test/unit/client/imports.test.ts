import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** What a file imports or exports from elsewhere at run time. */
const importsOf = (text: string): string[] =>
  [...text.matchAll(/^\s*(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'/gm)].map(
    ([, from, dynamic]) => from ?? dynamic ?? '',
  );

/** All that is loaded with a file: files of the project, and what is not one of them by its name. */
const loadedWith = (path: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const from of importsOf(readFileSync(join(root, path), 'utf8'))) {
    if (from.startsWith('.')) loadedWith(relative(root, join(root, dirname(path), from)), seen);
    else seen.add(from);
  }
  return seen;
};

test('the client library loads itself, the backoff and eventsource-parser alone: nothing of Node, no schemas', () => {
  expect(importsOf("import { x } from 'node:fs';\nimport type { Y } from 'zod';\nexport { z } from './z.ts';")).toEqual([
    'node:fs',
    './z.ts',
  ]);
  const loaded = [...loadedWith('shared/client/main.ts')];
  expect(loaded.length).toBeGreaterThan(8);
  expect(loaded.filter((path) => !path.startsWith('shared/client/')).sort()).toEqual([
    'eventsource-parser',
    'shared/kit/backoff.ts',
  ]);
});

test('it needs nothing that browsers do not have', () => {
  const texts = [...loadedWith('shared/client/main.ts')]
    .filter((path) => path.startsWith('shared/'))
    .map((path) => readFileSync(join(root, path), 'utf8'));
  for (const text of texts)
    expect(text).not.toMatch(/\b(process|Buffer|require|setImmediate|__dirname)\b\s*[.(]|\.unref\(|\.refresh\(/);
});
