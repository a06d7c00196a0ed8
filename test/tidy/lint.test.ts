import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = new URL('../..', import.meta.url).pathname;

/** For each rule of `.oxlintrc.json` a file that breaks it. */
const bad: Readonly<Record<string, string>> = {
  'await-thenable': 'export const one = async () => { await 1; };',
  'no-floating-promises': 'export const begin = () => { fetch("/"); };',
  'no-misused-promises': '[1].forEach(async () => {});',
  'return-await': 'export const load = async () => { try { return fetch("/"); } catch { return null; } };',
  'switch-exhaustiveness-check': 'export const turn = (to: "on" | "off") => { switch (to) { case "on": return 1; } };',
  'use-unknown-in-catch-callback-variable': 'export const codeOf = () => fetch("/").catch((error) => error.code);',
};

const compilerOptions = { strict: true, target: 'ES2023', module: 'NodeNext', lib: ['ES2024', 'DOM'], types: [] };

test('each rule of the typed lint finds the file that breaks it', () => {
  const { rules } = JSON.parse(readFileSync(join(root, '.oxlintrc.json'), 'utf8'));
  const folder = mkdtempSync(join(tmpdir(), 'lint-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  for (const [rule, text] of Object.entries(bad)) writeFileSync(join(folder, `${rule}.ts`), text);

  const { stdout, status } = spawnSync(join(root, 'node_modules/.bin/oxlint'), ['-f', 'json', folder], { cwd: root });
  const { diagnostics } = JSON.parse(stdout.toString()) as { diagnostics: { code: string; filename: string }[] };

  const found = diagnostics.map(({ code, filename }) => [filename, code]);
  const expected = Object.keys(rules).map((rule) => [
    join(folder, `${rule.replace('typescript/', '')}.ts`),
    rule.replace(/\/(.*)/, '($1)'),
  ]);
  expect(found.sort()).toEqual(expected.sort());
  expect(status).toBe(1);
});
