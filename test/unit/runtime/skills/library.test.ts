import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { type KnownSkills, SkillLibrary } from '../../../../shared/runtime/skills/library.ts';
import { skillText, type TemporaryFolder, temporaryFolder } from './folders.ts';

let folder: TemporaryFolder;
const open: SkillLibrary[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(folder.at('work'));
});
afterEach(async () => {
  for (const library of open.splice(0)) await library.close();
  folder.remove();
});

const library = async (settings: object = {}, agent: object = { workspace: folder.at('work') }) => {
  const config = configSchema.parse({ dataDir: folder.at('data'), agent, skills: { allowBundled: [], ...settings } });
  const opened = await SkillLibrary.open({ config, env: {}, log: pino({ level: 'silent' }), reserved: new Set() });
  open.push(opened);
  return opened;
};
const put = (place: string, name: string, body?: string) => folder.write(`${place}/SKILL.md`, skillText(name, '', body));
const begins: KnownSkills = { taken: false, refs: [] };
const unwatched = { load: { watch: false } };
const names = async (from: SkillLibrary, known: KnownSkills = begins) => (await from.take(known)).refs.map(({ name }) => name);

describe('A15/166: without a watch a session keeps the skills that it began with', () => {
  test('a later one begins with those that are there then', async () => {
    put('work/skills/a', 'a');
    const from = await library(unwatched);
    const { refs } = await from.take(begins);
    put('work/skills/a', 'a', 'Changed.');
    put('work/skills/b', 'b');
    expect((await from.take({ taken: true, refs })).refs).toEqual(refs);
    const later = await from.take(begins);
    expect(later.refs.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(later.refs[0]?.digest).not.toBe(refs[0]?.digest);
    expect((await from.take({ taken: true, refs })).refs).toEqual(refs);
  });
  test('a session that began with none goes on with none', async () => {
    const from = await library(unwatched);
    put('work/skills/a', 'a');
    expect(await names(from, { taken: true, refs: [] })).toEqual([]);
    expect(await names(from)).toEqual(['a']);
  });
  test('a host that took over goes on with the same digests, also when there are more skills by then', async () => {
    put('work/skills/a', 'a');
    put('work/skills/b', 'b');
    const { refs } = await (await library(unwatched)).take(begins);
    put('work/skills/c', 'c');
    const other = await library(unwatched);
    const set = await other.take({ taken: true, refs });
    expect(set.refs).toEqual(refs);
    expect(set.section).not.toContain('skills/c');
  });
  test('also when they are there again only then', async () => {
    put('work/skills/a', 'a');
    const { refs } = await (await library(unwatched)).take(begins);
    rmSync(folder.at('work/skills/a'), { recursive: true });
    put('work/skills/b', 'b');
    const other = await library(unwatched);
    put('work/skills/a', 'a');
    expect((await other.take({ taken: true, refs })).refs).toEqual(refs);
  });
  test('if a digest is not there any more it takes those of now', async () => {
    put('work/skills/a', 'a');
    const { refs } = await (await library(unwatched)).take(begins);
    put('work/skills/a', 'a', 'Changed.');
    const set = await (await library(unwatched)).take({ taken: true, refs });
    expect(set.refs).toMatchObject([{ name: 'a' }]);
    expect(set.refs).not.toEqual(refs);
  });
});

describe('A15/165: with a watch changes count once they have come to rest', () => {
  const until = (from: SkillLibrary, expected: string[]) =>
    vi.waitFor(async () => expect(await names(from, { taken: true, refs: [] })).toEqual(expected), {
      timeout: 10_000,
      interval: 20,
    });
  test('one that is written to without rest does not keep the others from being noticed', async () => {
    put('work/skills/noisy', 'noisy');
    const from = await library({ load: { watch: true, watchDebounceMs: 200 } });
    let number = 0;
    const storm = setInterval(() => folder.write('work/skills/noisy/log', `${number++}`), 20);
    try {
      put('work/skills/b', 'b');
      await until(from, ['b', 'noisy']);
    } finally {
      clearInterval(storm);
    }
  });
  test.each([
    ['work/skills/a', {}],
    ['work/.agents/skills/a', {}],
    ['data/skills/a', {}],
    ['extra/a', { extra: true }],
  ])('%s: comes, changes and goes, though its folder was not there', async (place, { extra }: { extra?: boolean }) => {
    const load = { watch: true, watchDebounceMs: 20, extraDirs: extra ? [folder.at('extra')] : [] };
    const from = await library({ load });
    expect(await names(from)).toEqual([]);
    put(place, 'a');
    await until(from, ['a']);
    const { refs } = await from.take(begins);
    put(place, 'a', 'Changed, and longer.');
    await vi.waitFor(async () => expect((await from.take(begins)).refs).not.toEqual(refs), { interval: 20 });
    put(place.replace(/a$/, 'b'), 'b');
    await until(from, ['a', 'b']);
    rmSync(folder.at(place), { recursive: true });
    await until(from, ['b']);
  });
  test('also where the place is a link to another folder', async () => {
    folder.write('dotfiles/skills/a/SKILL.md', skillText('a'));
    symlinkSync('../dotfiles/skills', folder.at('work/skills'));
    const from = await library({ load: { watch: true, watchDebounceMs: 20 } });
    expect(await names(from)).toEqual(['a']);
    const { refs } = await from.take(begins);
    put('dotfiles/skills/b', 'b');
    await until(from, ['a', 'b']);
    put('dotfiles/skills/a', 'a', 'Changed.');
    await vi.waitFor(async () => expect((await from.take(begins)).refs[0]).not.toEqual(refs[0]), {
      timeout: 10_000,
      interval: 20,
    });
    rmSync(folder.at('dotfiles/skills/a'), { recursive: true });
    await until(from, ['b']);
  });
  test('and where that link is exchanged for another', async () => {
    put('one/skills/a', 'a');
    put('two/skills/b', 'b');
    symlinkSync('../one/skills', folder.at('work/skills'));
    const from = await library({ load: { watch: true, watchDebounceMs: 20 } });
    expect(await names(from)).toEqual(['a']);
    symlinkSync('../two/skills', folder.at('work/new'));
    renameSync(folder.at('work/new'), folder.at('work/skills'));
    await until(from, ['b']);
    put('two/skills/c', 'c');
    await until(from, ['b', 'c']);
  });
  test('and of a skill that is a link to another of the same place', async () => {
    put('work/skills/real', 'a');
    symlinkSync('real', folder.at('work/skills/alias'));
    const from = await library({ load: { watch: true, watchDebounceMs: 20 } });
    const { refs } = await from.take(begins);
    put('work/skills/real', 'a', 'Changed.');
    await vi.waitFor(async () => expect((await from.take(begins)).refs).not.toEqual(refs), { interval: 20 });
  });
  test('many changes are one reading', async () => {
    const from = await library({ load: { watch: true, watchDebounceMs: 250 } });
    for (let number = 0; number < 10; number++) put(`work/skills/s${number}`, `s${number}`);
    expect(await names(from)).toEqual([]);
    await vi.waitFor(async () => expect(await names(from)).toHaveLength(10), { interval: 20 });
  });
});

test('A15/173: of a pinned skill another version is not there, and people are told why', async () => {
  put('work/skills/a', 'a');
  const { refs } = await (await library(unwatched)).take(begins);
  const pinned = await library({ ...unwatched, entries: { a: { digest: refs[0]?.digest } } });
  expect(await names(pinned)).toEqual(['a']);
  put('work/skills/a', 'a', 'Do something else.');
  expect(await names(pinned)).toEqual([]);
  expect(pinned.explain().find(({ skill }) => skill?.name === 'a')?.reasons).toEqual([
    expect.stringMatching(/version is not allowed/),
  ]);
});

test('A15/142: what cannot be used is a problem, told with its folder', async () => {
  folder.write('work/skills/a/SKILL.md', '# No front matter');
  const from = await library(unwatched);
  folder.write('work/skills/b\n/SKILL.md', skillText('b'));
  await from.refresh();
  expect(from.problems()).toEqual([
    expect.stringMatching(/^skill .*\/work\/skills\/a"?: SKILL\.md has no front matter/),
    expect.stringMatching(/^[^\n]*its name has invisible characters[^\n]*$/),
  ]);
});

test('A15/168: an agent without a workspace has no skills', async () => {
  put('data/skills/a', 'a');
  const from = await library({}, {});
  expect(await from.take(begins)).toMatchObject({ refs: [], section: '' });
});
