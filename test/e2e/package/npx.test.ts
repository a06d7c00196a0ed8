import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installPacked, type Packed } from '../cli/packed.ts';

/** The packed command by way of npm: from a folder that has it, with an empty home and without a registry. */
let packed: Packed;
const folder = mkdtempSync(join(tmpdir(), 'natter npx '));
beforeAll(async () => {
  packed = await installPacked();
  mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true });
  symlinkSync(packed.natter, join(folder, 'node_modules', '.bin', 'natter'));
});
afterAll(() => {
  packed.remove();
  rmSync(folder, { recursive: true, force: true });
});

const npm = async (command: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> => {
  const quiet = { npm_config_registry: 'http://127.0.0.1:1', npm_config_update_notifier: 'false' };
  const env = { PATH: process.env.PATH, HOME: folder, ...quiet, NO_COLOR: '1' };
  return promisify(execFile)(command, args, { env, cwd: folder }).catch((error: { stdout: string; stderr: string }) => error);
};

test.each([
  ['npx', ['natter']],
  ['npm', ['exec', '--', 'natter']],
])(
  '%s %j asks nothing, warns of nothing, and hints at commands as it was called',
  async (command, first) => {
    expect(await npm(command, ...first, '--version')).toMatchObject({ stdout: expect.stringMatching(/^\d\S+\n$/), stderr: '' });
    const { stderr } = await npm(command, ...first, 'init', '--base-url', 'http://127.0.0.1:1/v1', '--model', 'none');
    expect(stderr).toMatch(/^natter: .*nothing was written; try again with: npx natter init /m);
    expect(stderr).not.toMatch(/npm (warn|notice)/);
  },
  120_000,
);
