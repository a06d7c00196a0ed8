import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchSkills } from '../../../../shared/runtime/skills/watch.ts';
import { skillText, type TemporaryFolder, temporaryFolder } from './folders.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

test('A15/165: a file that changes before it is watched is told again', async () => {
  // Many at once, so that the watch of a file begins well after its folder was noticed.
  const watchers = Array.from({ length: 20 }, async (_, number) => {
    const place = folder.at(`${number}/.agents/skills`);
    folder.write(`${number}/present`, '');
    const file = folder.at(`${number}/.agents/skills/a/SKILL.md`);
    let told = 0;
    const failed = (error: unknown): void => expect.unreachable(String(error));
    const watcher = await watchSkills({ places: [place], debounceMs: 5, changed: () => told++, failed });
    try {
      folder.write(`${number}/.agents/skills/a/SKILL.md`, skillText('a'));
      await vi.waitFor(() => expect(told).toBeGreaterThan(0), { timeout: 30_000, interval: 1 });
      const before = told;
      writeFileSync(file, skillText('a', '', 'Changed.'));
      await vi.waitFor(() => expect(told).toBeGreaterThan(before), { timeout: 10_000, interval: 5 });
    } finally {
      await watcher.close();
    }
  });
  await Promise.all(watchers);
});
