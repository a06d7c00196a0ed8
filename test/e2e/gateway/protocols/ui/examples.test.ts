import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

/** docs/examples/ui: what people copy is compiled with the packages' own types; Preact's stand for those of React. */

const root = fileURLToPath(new URL('../../../../../', import.meta.url));
const folder = join(root, 'docs/examples/ui');
const files = readdirSync(folder);

const compile = async (change: (text: string) => string) => {
  const place = mkdtempSync(join(root, 'node_modules/.natter-examples-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  for (const file of files) writeFileSync(join(place, file), change(readFileSync(join(folder, file), 'utf8')));
  const compilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, noUnusedLocals: true, types: [] },
    ...{ target: 'ES2023', lib: ['ES2023', 'DOM', 'DOM.Iterable'], module: 'ESNext', moduleResolution: 'Bundler' },
    ...{ jsx: 'react-jsx', jsxImportSource: 'preact' },
    paths: {
      react: [join(root, 'node_modules/preact/hooks')],
      '@ai-sdk/react': [join(root, 'test/support/docs/use-chat.d.ts')],
    },
  };
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = join(root, 'node_modules/.bin/tsc');
  const run = promisify(execFile)(tsc, ['-p', place], { cwd: tmpdir() });
  return run.then(
    () => '',
    ({ stdout }) => stdout as string,
  );
};

test('the examples compile, and are short', async () => {
  expect(files.sort()).toEqual(['agui.ts', 'use-chat.tsx']);
  for (const file of files) expect(readFileSync(join(folder, file), 'utf8').split('\n').length, file).toBeLessThan(80);
  expect(await compile((text) => text)).toBe('');
});

test('an example that uses what the packages do not have does not compile', async () => {
  const renamed = (text: string) =>
    text.replaceAll('pendingInterrupts', 'interrupts').replaceAll('addToolApprovalResponse', 'addAnswer');
  expect(await compile(renamed)).toMatch(/agui\.ts.*interrupts[\s\S]*use-chat\.tsx.*addAnswer/);
});
