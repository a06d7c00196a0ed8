import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openBrowser } from '../../../../services/cli/page/open-browser.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'natter-open-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** The opener of every system, as this script. */
const openerIs = (script: string): void => {
  for (const name of ['xdg-open', 'open']) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
};

test.each([
  ['opens the address', 'test "$1" = http://127.0.0.1:1/', true],
  ['finds no browser', 'exit 3', false],
])('an opener that %s', async (_, script, isOpened) => {
  openerIs(script);
  expect(await openBrowser('http://127.0.0.1:1/', 60_000)).toBe(isOpened);
});

test('an opener that runs on is the browser', async () => {
  openerIs('sleep 1');
  expect(await openBrowser('http://127.0.0.1:1/', 1)).toBe(true);
});

test('a system without an opener', async () => {
  vi.stubEnv('PATH', folder);
  expect(await openBrowser('http://127.0.0.1:1/')).toBe(false);
});
