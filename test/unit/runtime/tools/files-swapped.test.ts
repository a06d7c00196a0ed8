import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { fileTools } from '../../../../services/session/tools/files.ts';
import { calling } from './calling.ts';

/** Every call of the file system that the tools make by a path; `before` is told of each, and may change the disk first. */
const watch = vi.hoisted(() => ({ before: () => {} }));
vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<Record<string, unknown>>();
  const names = ['lstat', 'mkdir', 'open', 'opendir', 'readlink', 'realpath', 'rename', 'unlink'];
  const watched = names.map((name) => {
    const call = original[name] as (...args: unknown[]) => Promise<unknown>;
    const told = (...args: unknown[]) => {
      watch.before();
      return call(...args);
    };
    return [name, told] as const;
  });
  return { ...original, ...Object.fromEntries(watched) };
});

/** Thousands of small files: not on a disk, where there is another place. */
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A workspace with the folder `gateway`, and what it is swapped for: a link to a folder outside. */
const makePlace = () => {
  const base = mkdtempSync(join(memory, 'natter-test-'));
  const at = (...path: string[]) => join(base, ...path);
  for (const folder of ['workspace', 'workspace/gateway', 'workspace/gateway/sub', 'outside', 'outside/sub'])
    mkdirSync(at(folder));
  writeFileSync(at('workspace/gateway/file'), 'harmless');
  writeFileSync(at('workspace/gateway/sub/file'), 'harmless');
  writeFileSync(at('outside/file'), 'SECRET');
  writeFileSync(at('outside/sub/file'), 'SECRET');
  writeFileSync(at('outside/other'), 'SECRET');
  const [gateway, aside] = [at('workspace/gateway'), at('workspace/aside')];
  return {
    at,
    swap: () => {
      renameSync(gateway, aside);
      symlinkSync(at('outside'), gateway);
    },
    swapBack: () => {
      unlinkSync(gateway);
      renameSync(aside, gateway);
    },
  };
};

const calls = [
  ['read_file', { path: 'gateway/file' }],
  ['read_file', { path: 'gateway/sub/file' }],
  ['list_files', { path: 'gateway' }],
  ['write_file', { path: 'gateway/file', content: 'new' }],
  ['write_file', { path: 'gateway/sub/file', content: 'new' }],
  ['write_file', { path: 'gateway/new', content: 'new' }],
  ['write_file', { path: 'gateway/deep/new', content: 'new' }],
] as const;

/** Runs the call with the swap before its `from`-th step and, if given, back before its `to`-th. Answers how many steps there were. */
const runSwapped = async (name: string, given: object, from: number, to: number): Promise<{ steps: number; outcome: string }> => {
  const { at, swap, swapBack } = makePlace();
  let steps = 0;
  watch.before = () => {
    steps++;
    if (steps === from) swap();
    if (steps === to && existsSync(at('workspace/aside'))) swapBack();
  };
  try {
    const { outcome, text } = await calling(fileTools(at('workspace'), 'read-write'))(name, given);
    expect(text, `swapped at ${from}, back at ${to}`).not.toMatch(/SECRET|other/);
    expect(readdirSync(at('outside')), `swapped at ${from}, back at ${to}`).toEqual(['file', 'other', 'sub']);
    expect(readdirSync(at('outside/sub'))).toEqual(['file']);
    for (const file of ['file', 'sub/file']) expect(readFileSync(at('outside', file), 'utf8')).toBe('SECRET');
    return { steps, outcome };
  } finally {
    watch.before = () => {};
    rmSync(at(), { recursive: true, force: true });
  }
};

test.skipIf(!existsSync('/proc/self/fd')).each(calls)(
  'I12: %s %j stays inside, whenever its folder is swapped for a link that leads out, and back',
  async (name, given) => {
    const { steps, outcome } = await runSwapped(name, given, 0, 0);
    expect(outcome).toBe('ok');
    expect(steps).toBeGreaterThan(3);
    for (let from = 1; from <= steps; from++) {
      for (const to of [from + 1, from + 2, from + 3, Number.POSITIVE_INFINITY]) await runSwapped(name, given, from, to);
    }
  },
  60_000,
);
