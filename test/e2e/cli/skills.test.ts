import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { skillsCommand } from '../../../services/cli/commands/skills/skills.ts';
import { natterWith } from '../../support/natter.ts';
import { skillText, type TemporaryFolder, temporaryFolder } from '../../unit/runtime/skills/folders.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
  const config = {
    agent: { workspace: folder.at('workspace') },
    skills: {
      allowBundled: ['summarize'],
      entries: { chart: { apiKey: 'secret-1', env: { CHART_HOST: 'secret-2' } } },
      load: { extraDirs: [folder.at('extra')] },
    },
  };
  folder.write('natter.json', JSON.stringify(config));
  const ours = { requires: { bins: ['chart'], env: ['CHART_HOST'] }, primaryEnv: 'CHART_KEY', install };
  folder.write('workspace/skills/chart/SKILL.md', skillText('chart', `metadata: ${JSON.stringify({ natter: ours })}`));
  folder.write('extra/chart/SKILL.md', skillText('chart'));
  folder.write('extra/broken/SKILL.md', 'nothing');
});
afterEach(() => folder.remove());

const install = [
  { id: 'npm', kind: 'node', package: '@charts/chart', bins: ['chart'], label: 'Chart' },
  { id: 'windows', kind: 'brew', formula: 'chart', bins: ['chart'], os: ['win32'] },
  { id: 'bad', kind: 'node', package: '--prefix=/' },
];
const natter = (...words: readonly string[]): Promise<string> =>
  natterWith([skillsCommand], { home: folder.path, env: { PATH: `${folder.at('managers')}:/usr/bin:/bin` } })('skills', ...words);
/** An `npm` that puts a program where it is told to. */
const withNpm = (then = 'mkdir -p "$3/bin"'): void => {
  const script = `#!/bin/sh\nprefix="\${3#--prefix=}"\n${then}\nprintf '#!/bin/sh\\n' > "$prefix/bin/chart"\nchmod +x "$prefix/bin/chart"\n`;
  chmodSync(folder.write('managers/npm', script), 0o755);
};

describe('natter skills list, check and info', () => {
  test('list tells of each, and with --eligible of those that the agent has', async () => {
    const lines = (await natter('list')).split('\n');
    expect(lines.find((line) => line.startsWith('chart'))).toMatch(/^chart +workspace +ineligible +What chart does\.$/);
    expect(lines.filter((line) => line.startsWith('chart'))).toHaveLength(2);
    expect(lines.join('\n')).toMatch(/broken +extra +unusable/);
    const { skills } = JSON.parse(await natter('list', '--eligible', '--json'));
    expect(skills.map(({ name }: { name: string }) => name)).toEqual(['summarize']);
  });

  test('check says why', async () => {
    const said = await natter('check');
    expect(said).toMatch(/ineligible +chart .*\n +The program chart is not installed\./);
    expect(said).toMatch(/ineligible +memory .*\n +It is bundled and not in skills.allowBundled\./);
    expect(said).toMatch(/shadowed +chart .*\n +\S+workspace\/skills\/chart has the same name and comes first \(workspace\)\./);
    expect(said).toMatch(/unusable +\S+broken .*\n +SKILL.md has no front matter/);
  });

  test('info tells all, and of variables only the names', async () => {
    const said = await natter('info', 'chart');
    for (const row of [
      /^chart +What chart does\.$/m,
      /^folder +\S+workspace\/skills\/chart$/m,
      /^file +skills\/chart\/SKILL.md$/m,
      /^digest +[0-9a-f]{64}$/m,
      /^shadows +\S+extra\/chart$/m,
      /^programs +chart$/m,
      /^variables +CHART_HOST$/m,
      /^key +CHART_KEY$/m,
      /^prompt +\d+ characters, about \d+ tokens$/m,
      /^install +npm: node @charts\/chart, "Chart", provides chart$/m,
    ])
      expect(said).toMatch(row);
    const json = await natter('info', 'chart', '--json');
    expect(JSON.parse(json)).toMatchObject({
      name: 'chart',
      shadows: [folder.at('extra/chart')],
      installed: null,
      status: 'ineligible',
    });
    expect(said + json).not.toMatch(/secret-/);
    await expect(natter('info', 'nothing')).rejects.toThrow(/there is no skill "nothing"/);
  });
});

describe('A15/169–171: natter skills install, for a skill that is here', () => {
  test('shows what will run, and without a terminal and --yes runs nothing', async () => {
    withNpm(`touch '${folder.at('ran')}'`);
    await expect(natter('install', 'chart')).rejects.toThrow(/use --yes to install/);
    expect(existsSync(folder.at('ran'))).toBe(false);
  });

  test('installs into our own folder, then the skill is eligible', async () => {
    withNpm('');
    const said = await natter('install', 'chart', '--yes');
    expect(said).toContain(
      `runs    ["npm","install","--global","--prefix=${folder.at('tools')}","--ignore-scripts","--no-audit","--no-fund","@charts/chart"]`,
    );
    expect(said).toMatch(/npm.* Chart +provides chart\n/);
    expect(said).toMatch(/installed {2}npm\nchart is eligible\n$/);
    expect(readFileSync(folder.at('tools/bin/chart'), 'utf8')).toBe('#!/bin/sh\n');
    expect(await natter('check')).toMatch(/eligible +chart/);
    // Nothing is missing now, so nothing is run.
    expect(await natter('install', 'chart')).toBe('');
  });

  test('nor can the name of a folder', async () => {
    folder.write('extra/x\neligible    chart/SKILL.md', skillText('x'));
    const said = (await natter('check')) + (await natter('list'));
    expect(said.split('\n').filter((line) => line.startsWith('eligible'))).toEqual([
      expect.stringMatching(/^eligible +summarize /),
    ]);
  });

  test('a skill cannot write lines of ours', async () => {
    withNpm('');
    const spoof = {
      id: 'x\n  runs    ["true"]',
      kind: 'node',
      package: 'evil',
      bins: ['a\n  runs    ["true"]', 'chart'],
      label: 'y\n  runs    ["true"]',
    };
    const ours = { requires: { bins: ['chart'] }, install: [spoof] };
    folder.write('workspace/skills/spoof/SKILL.md', skillText('spoof', `metadata: ${JSON.stringify({ natter: ours })}`));
    const said = (await natter('install', 'spoof', '--yes')) + (await natter('info', 'spoof'));
    expect(said.split('\n').filter((line) => line.startsWith('  runs'))).toEqual([expect.stringContaining('"evil"]')]);
  });

  test('says what is missing still', async () => {
    chmodSync(folder.write('managers/npm', '#!/bin/sh\n'), 0o755);
    expect(await natter('install', 'chart', '--yes')).toMatch(
      /chart is not eligible yet:\n +The program chart is not installed\./,
    );
  });

  test.each<[words: readonly string[], problem: RegExp]>([
    [['install', 'chart', '--spec', 'none', '--yes'], /has no such install spec; it has npm, windows, bad/],
    [['install', 'chart', '--spec', 'windows', '--yes'], /cannot use it on this machine/],
    [['install', 'chart', '--spec', 'bad', '--yes'], /"--prefix=\/" is no name of a package/],
    [['install', 'elsewhere', '--yes'], /no registry is configured/],
  ])('natter skills %j', async (words, problem) => {
    withNpm('');
    await expect(natter(...words)).rejects.toThrow(problem);
  });
});
