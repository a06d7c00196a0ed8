import { mkdirSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { listFolder } from '../../../../shared/runtime/skills/folder.ts';
import { skillRoots } from '../../../../shared/runtime/skills/locations.ts';
import { factsWith, skillText, temporaryFolder } from './folders.ts';

test('A15/173: a link that leads out by way of another link is one that leads out', () => {
  const folder = temporaryFolder();
  try {
    folder.write('skill/SKILL.md', skillText('one'));
    folder.write('secret', 'secret');
    mkdirSync(folder.at('skill/one/two'), { recursive: true });
    symlinkSync('../..', folder.at('skill/one/two/top'));
    expect(listFolder(folder.at('skill')).files).toHaveLength(2);
    // To the system `top/..` is the folder above the skill's, and not `two`.
    symlinkSync('one/two/top/../secret', folder.at('skill/out'));
    folder.write('skill/one/two/secret', 'harmless');
    expect(() => listFolder(folder.at('skill'))).toThrow(/out: is a link that points out of the folder/);

    folder.write('skill/natter.plugin.json', '{"skills":["out"]}');
    const { config } = factsWith({ plugins: { one: { path: folder.at('skill') } } });
    expect(skillRoots(config).find(({ source }) => source === 'plugin')?.problem).toMatch(/points out of the plugin's folder/);
  } finally {
    folder.remove();
  }
});
