import { renameSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { execTool } from '../../../../services/session/tools/exec.ts';
import { fileTools } from '../../../../services/session/tools/files.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { Skill } from '../../../../shared/domain/skills/skill.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { Tool, ToolEnd } from '../../../../shared/ports/tools.ts';
import type { Entries } from '../../../../shared/runtime/skills/environment.ts';
import { listFolder, readListed } from '../../../../shared/runtime/skills/folder.ts';
import { countingSkills, loadSkills } from '../../../../shared/runtime/skills/load.ts';
import { scope } from '../tools/calling.ts';
import { skillText, type TemporaryFolder, temporaryFolder } from './folders.ts';

/** What is in a skill's folder is used as it is; of one that is pinned as the owner has read it. */
let folder: TemporaryFolder;
let skills: readonly Skill[];
beforeEach(async () => {
  folder = temporaryFolder();
  folder.write('work/skills/a/SKILL.md', skillText('a'));
  folder.write('work/skills/a/run.sh', 'echo as it was read');
  folder.write('managed/b/SKILL.md', skillText('b'));
  symlinkSync('SKILL.md', folder.at('managed/b/again.md'));
  const found = await loadSkills({
    roots: [
      { source: 'workspace', path: folder.at('work/skills'), inWorkspace: 'skills' },
      { source: 'managed', path: folder.at('managed') },
    ],
  });
  skills = countingSkills(found);
});
afterEach(() => folder.remove());

const pins = () =>
  configSchema.parse({ skills: { entries: Object.fromEntries(skills.map(({ name, digest }) => [name, { digest }])) } }).skills
    .entries;
const call = (tool: Tool | undefined, given: object): Promise<ToolEnd> => {
  if (tool === undefined) throw new Error('there is no such tool');
  return tool.run({ callId: 'c', arguments: given, scope: { ...scope, skills } }, new AbortController().signal);
};
const read = (path: string, entries: Entries = pins()) =>
  call(fileTools(folder.at('work'), 'read-only', entries)[0], { path }).then(({ outcome }) => outcome);

describe('A15/173: read_file', () => {
  /** Every way to say it. */
  const paths = () => ['skills/a/SKILL.md', folder.at('work/skills/a/SKILL.md'), folder.at('managed/b/again.md')];
  const outcomes = async (entries?: Entries) => {
    const found: string[] = [];
    for (const path of paths()) found.push(await read(path, entries));
    return found;
  };
  test('of a pinned skill nothing is read that has changed since, whatever path leads there', async () => {
    symlinkSync('skills', folder.at('work/alias'));
    expect(await outcomes()).toEqual(['ok', 'ok', 'ok']);
    folder.write('work/skills/a/run.sh', 'something else');
    folder.write('managed/b/SKILL.md', `${skillText('b')}Something else.`);
    expect(await outcomes()).toEqual(['error', 'error', 'error']);
    expect(await outcomes({})).toEqual(['ok', 'ok', 'ok']);
    expect(await read('alias/a/SKILL.md', {})).toBe('error');
  });
  test('nor where its folder was exchanged for another', async () => {
    folder.write('work/evil/SKILL.md', skillText('a', '', 'Something else.'));
    renameSync(folder.at('work/skills/a'), folder.at('work/old'));
    symlinkSync('../evil', folder.at('work/skills/a'));
    expect(await read('skills/a/SKILL.md')).toBe('error');
  });
  test('a path has one spelling', async () => {
    expect(await read('skills/./a/SKILL.md')).toBe('error');
    expect(await read('skills/a/../a/SKILL.md')).toBe('error');
    expect(await read('skills/a')).toBe('error');
  });
});

describe('A15/173: exec', () => {
  const run = (entries: Entries) => {
    const exec = { enabled: true, environment: [], timeoutMs: 20_000 };
    const options = { exec, workspace: folder.at('work'), env: { PATH: process.env.PATH }, clock: systemClock };
    return call(execTool({ ...options, skills: entries }), { command: ['sh', 'skills/a/run.sh'] });
  };
  test('runs nothing while a pinned skill of the session is not what it was', async () => {
    expect(await run(pins())).toEqual({ outcome: 'ok', text: '[exit code 0]\nas it was read\n' });
    folder.write('work/skills/a/run.sh', 'echo something else');
    expect(await run(pins())).toEqual({ outcome: 'error', text: expect.stringMatching(/the skill "a" .*has changed since/) });
    expect((await run({})).text).toContain('something else');
  });
});

test('A15/174: only SKILL.md has to be there; scripts and templates beside it are run and read where the skill is', async () => {
  const plain = await loadSkills({ roots: [{ source: 'workspace', path: folder.at('work/skills'), inWorkspace: 'skills' }] });
  folder.write('work/skills/a/scripts/greet.sh', 'cat "$(dirname "$0")/../templates/greeting.txt"');
  folder.write('work/skills/a/templates/greeting.txt', 'Hello.');
  const found = await loadSkills({ roots: [{ source: 'workspace', path: folder.at('work/skills'), inWorkspace: 'skills' }] });
  expect([...plain, ...found].map(({ skill, problem }) => skill?.name ?? problem)).toEqual(['a', 'a']);
  skills = countingSkills(found);
  const exec = execTool({
    ...{ exec: { enabled: true, environment: [], timeoutMs: 20_000 }, workspace: folder.at('work') },
    ...{ env: { PATH: process.env.PATH }, clock: systemClock, skills: pins() },
  });
  expect((await call(exec, { command: ['sh', 'skills/a/scripts/greet.sh'] })).text).toBe('[exit code 0]\nHello.');
  expect(
    (await call(fileTools(folder.at('work'), 'read-only', pins())[0], { path: 'skills/a/templates/greeting.txt' })).text,
  ).toBe('Hello.');
});

test('A15/173: what is read is what was listed, though a folder was exchanged for a link meanwhile', () => {
  folder.write('work/skills/a/notes/one', 'harmless');
  folder.write('secret/one', 'a secret');
  const listing = listFolder(folder.at('work/skills/a'));
  renameSync(folder.at('work/skills/a/notes'), folder.at('old'));
  symlinkSync(folder.at('secret'), folder.at('work/skills/a/notes'));
  expect(() => readListed(folder.at('work/skills/a'), listing)).toThrow(/changed while it was being read/);
});
