import { chmodSync } from 'node:fs';
import pino from 'pino';
import { expect, test } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { SkillLibrary } from '../../../../shared/runtime/skills/library.ts';
import { skillText, temporaryFolder } from './folders.ts';

test('A15/154, 170: a program that is installed in our folder of tools makes the skill eligible at once', async () => {
  const folder = temporaryFolder();
  folder.write('workspace/skills/chart/SKILL.md', skillText('chart', 'metadata: {natter: {requires: {bins: [chart]}}}'));
  const config = configSchema.parse({
    dataDir: folder.at('data'),
    agent: { workspace: folder.at('workspace') },
    skills: { allowBundled: [], load: { watchDebounceMs: 10 } },
  });
  folder.write('data/keep', '');
  const log = pino({ level: 'silent' });
  const library = await SkillLibrary.open({ config, env: { PATH: '/usr/bin' }, log, reserved: new Set() });
  try {
    const names = async () => (await library.take({ taken: true, refs: [] })).refs.map(({ name }) => name);
    expect(await names()).toEqual([]);
    chmodSync(folder.write('data/tools/bin/chart', '#!/bin/sh\n'), 0o755);
    await expect.poll(names).toEqual(['chart']);
  } finally {
    await library.close();
    folder.remove();
  }
});
