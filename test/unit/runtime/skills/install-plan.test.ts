import { describe, expect, test } from 'vitest';
import { chooseSpecs, type Machine } from '../../../../services/cli/skills-install/choose.ts';
import { type ManagedKind, packageName } from '../../../../services/cli/skills-install/names.ts';
import { type NodeManager, planOf } from '../../../../services/cli/skills-install/plan.ts';
import { downloadFolder, toolPlaces, withTools } from '../../../../shared/runtime/skills/places.ts';
import { skillOf } from './folders.ts';

const places = toolPlaces('/data');
const planned = (spec: object, nodeManager: NodeManager = 'npm') => {
  const skill = skillOf('demo', { install: [spec] });
  const [read] = skill.manifest.install;
  return planOf(read!, 0, { skill, nodeManager, places });
};

describe('A15/170: what each kind runs', () => {
  const sha256 = 'A'.repeat(64);
  test.each<[spec: object, plan: object]>([
    [
      { kind: 'brew', formula: 'owner/tap/jq' },
      { id: 'brew-0', command: ['brew', 'install', 'owner/tap/jq'], env: {} },
    ],
    [
      { kind: 'go', module: 'example.org/cmd/tool', id: 'g', label: 'The tool', bins: ['tool'] },
      {
        id: 'g',
        label: 'The tool',
        bins: ['tool'],
        command: ['go', 'install', 'example.org/cmd/tool@latest'],
        env: { GOBIN: '/data/tools/bin' },
      },
    ],
    [{ kind: 'go', module: 'example.org/tool@v1.2.3' }, { command: ['go', 'install', 'example.org/tool@v1.2.3'] }],
    [
      { kind: 'uv', package: 'tool[extra]==1.0' },
      {
        command: ['uv', 'tool', 'install', '--no-build', 'tool[extra]==1.0'],
        env: { UV_TOOL_DIR: '/data/tools/uv', UV_TOOL_BIN_DIR: '/data/tools/bin' },
      },
    ],
    [
      { kind: 'download', url: 'https://example.org/a/model.tar.bz2?x=1', targetDir: 'models/one', stripComponents: 1, sha256 },
      {
        id: 'download-0',
        archive: 'tar.bz2',
        strip: 1,
        sha256: sha256.toLowerCase(),
        target: '/data/tools/skills/demo/models/one',
      },
    ],
    [
      { kind: 'download', url: 'https://example.org/jq-linux-amd64', bins: ['jq'] },
      { archive: null, file: 'jq', target: '/data/tools/skills/demo/download-0' },
    ],
    [
      { kind: 'download', url: 'https://example.org/a.zip', extract: false },
      { archive: null, file: 'a.zip' },
    ],
    [
      { kind: 'download', url: 'https://example.org/%2e%2e%2fx y', archive: 'zip' },
      { archive: 'zip', file: 'download' },
    ],
  ])('%j', (spec, plan) => expect(planned(spec)).toMatchObject(plan));

  test.each<[NodeManager, string[]]>([
    ['npm', ['npm', 'install', '--global', '--prefix=/data/tools', '--ignore-scripts', '--no-audit', '--no-fund', '@a/b@1']],
    [
      'pnpm',
      [
        'pnpm',
        'add',
        '--global',
        '--global-dir=/data/tools/pnpm',
        '--global-bin-dir=/data/tools/bin',
        '--ignore-scripts',
        '@a/b@1',
      ],
    ],
    ['yarn', ['yarn', 'global', 'add', '--prefix=/data/tools', '--global-folder=/data/tools/yarn', '--ignore-scripts', '@a/b@1']],
    ['bun', ['bun', 'add', '--global', '--ignore-scripts', '@a/b@1']],
  ])('A15/171: node with %s', (manager, command) => {
    expect(planned({ kind: 'node', package: '@a/b@1' }, manager)).toMatchObject({ kind: 'node', command });
  });

  test.each<[spec: object, problem: RegExp]>([
    [{ kind: 'brew' }, /formula is missing/],
    [{ kind: 'node' }, /package is missing/],
    [{ kind: 'go' }, /module is missing/],
    [{ kind: 'download' }, /url is missing/],
    [{ kind: 'download', url: 'http://example.org/x' }, /not https/],
    [{ kind: 'download', url: 'file:///etc/passwd' }, /not https/],
    [{ kind: 'download', url: 'https://me:secret@example.org/x' }, /credentials/],
    [{ kind: 'download', url: 'nowhere' }, /no address/],
    [{ kind: 'download', url: 'https://example.org/x', archive: '7z' }, /cannot be unpacked/],
    [{ kind: 'download', url: 'https://example.org/x', targetDir: '../../bin' }, /targetDir/],
    [{ kind: 'download', url: 'https://example.org/x', targetDir: '/etc' }, /targetDir/],
    [{ kind: 'download', url: 'https://example.org/x', targetDir: '~/x' }, /targetDir/],
    [{ kind: 'download', url: 'https://example.org/x', targetDir: '.' }, /targetDir/],
    [{ kind: 'download', url: 'https://example.org/x', id: '../x' }, /targetDir/],
  ])('refused: %j', (spec, problem) => expect(() => planned(spec)).toThrow(problem));
});

describe('A15/173: only names of packages reach a manager', () => {
  const good: readonly [ManagedKind, readonly string[]][] = [
    ['brew', ['jq', 'python@3.12', 'steipete/tap/camsnap', 'gtk+3']],
    ['node', ['typescript', '@scope/name', 'name@1.2.3', '@scope/name@latest', 'name@^1.0.0', 'Name_1.x']],
    ['go', ['github.com/a/b', 'github.com/a/b/cmd/c@latest', 'example.org/x/v2@v2.0.1+incompatible', 'gopkg.in/yaml.v3']],
    ['uv', ['ruff', 'nano-pdf', 'a[b,c]==1.0.0', 'a==1!2.0+local']],
  ];
  test.each(good.flatMap(([kind, names]) => names.map((name) => [kind, name] as const)))('%s takes %s', (kind, name) => {
    expect(packageName(kind, name)).toBe(name);
  });
  const bad = [
    ...[
      '-g',
      '--prefix=/',
      '--index-url=https://example.org',
      '../x',
      './x',
      '/etc',
      '~',
      '',
      ' a',
      'a b',
      'a;b',
      '$(a)',
      'a\nb',
      'a|b',
    ],
    ...[
      'https://example.org/x.tgz',
      'git+ssh://example.org/x',
      'file:../x',
      'npm:other@1',
      'a @ https://example.org/x',
      `${'a'.repeat(300)}`,
    ],
  ];
  test.each((['brew', 'node', 'go', 'uv'] as const).flatMap((kind) => bad.map((name) => [kind, name] as const)))(
    '%s refuses %j',
    (kind, name) => expect(() => packageName(kind, name)).toThrow(/is no name of a package/),
  );
  test.each([
    ['node', 'owner/repository'],
    ['node', 'name@npm:other'],
    ['node', 'name@file:x'],
    ['node', 'name@-x'],
    ['go', 'github.com/../x'],
    ['go', 'nodots/x'],
    ['go', './cmd'],
    ['uv', 'a==1 --index-url'],
    ['uv', 'a>=1'],
    ['uv', 'a-1.0-py3-none-any.whl'],
    ['node', 'a.tgz'],
    ['node', 'a@b.tar.gz'],
    ['node', '@a/b.tar'],
    ['brew', 'a.rb'],
    ['brew', 'a.bottle.tar.gz'],
    ['brew', 'a/b'],
    ['brew', 'a/b/c/d'],
  ] as const)('%s refuses %j', (kind, name) => expect(() => packageName(kind, name)).toThrow());
});

describe('A15/170: which way is taken', () => {
  const machine = (has: readonly string[], change: Partial<Machine> = {}): Machine => ({
    os: 'linux',
    nodeManager: 'npm',
    hasProgram: (name) => has.includes(name),
    ...change,
  });
  const all = ['brew', 'uv', 'npm', 'go'];
  const specs = [
    { kind: 'download', url: 'https://example.org/x', bins: ['x'] },
    { kind: 'go', module: 'example.org/x', bins: ['x'] },
    { kind: 'node', package: 'x', bins: ['x'] },
    { kind: 'uv', package: 'x', bins: ['x'] },
    { kind: 'brew', formula: 'x', bins: ['x'] },
  ];
  const chosen = (ours: object, on: Machine) => chooseSpecs(skillOf('demo', ours), on).map(({ spec }) => spec.kind);
  test.each([
    [all, ['brew']],
    [['uv', 'npm', 'go'], ['uv']],
    [['npm', 'go'], ['node']],
    [['pnpm', 'go'], ['go']],
    [[], ['download']],
    [['x', ...all], []],
  ])('with %j: %j', (has, kinds) => expect(chosen({ requires: { bins: ['x'] }, install: specs }, machine(has))).toEqual(kinds));
  test('the configured manager counts for node', () => {
    expect(chosen({ requires: { bins: ['x'] }, install: specs }, machine(['pnpm'], { nodeManager: 'pnpm' }))).toEqual(['node']);
  });
  test('a spec for another system is left out', () => {
    const install = [
      { kind: 'brew', formula: 'x', bins: ['x'], os: ['darwin'] },
      { kind: 'go', module: 'example.org/x', bins: ['x'] },
    ];
    expect(chosen({ requires: { bins: ['x'] }, install }, machine(all))).toEqual(['go']);
    expect(chosen({ requires: { bins: ['x'] }, install }, machine(all, { os: 'darwin' }))).toEqual(['brew']);
  });
  test('each missing program is brought once, and of alternatives one', () => {
    const install = [
      { kind: 'brew', formula: 'a', bins: ['a'] },
      { kind: 'brew', formula: 'bc', bins: ['b', 'c'] },
      { kind: 'node', package: 'd', bins: ['d'] },
    ];
    const requires = { bins: ['a', 'b', 'c'], anyBins: ['d', 'e'] };
    expect(chosen({ requires, install }, machine(all))).toEqual(['brew', 'brew', 'node']);
    expect(chosen({ requires, install }, machine(['a', 'e', ...all]))).toEqual(['brew']);
  });
  test('a skill that has only downloads needs them all', () => {
    const install = [
      { kind: 'download', url: 'https://example.org/runtime.zip' },
      { kind: 'download', url: 'https://example.org/model.zip' },
    ];
    expect(chosen({ install }, machine([]))).toEqual(['download', 'download']);
  });
});

describe('places', () => {
  test('our programs come last on the path', () => {
    expect(withTools({ PATH: '/usr/bin', A: 'b' }, '/data')).toEqual({ PATH: '/usr/bin:/data/tools/bin', A: 'b' });
    expect(withTools({}, '/data').PATH).toBe('/usr/local/bin:/usr/bin:/bin:/data/tools/bin');
    expect(withTools({ PATH: '/usr/bin' }, undefined)).toEqual({ PATH: '/usr/bin' });
  });
  test('a skill cannot download to the folder of another', () => {
    expect(downloadFolder(skillOf('bin'), 'a/../b', places).target).toBe('/data/tools/skills/bin/b');
    expect(() => downloadFolder(skillOf('a'), 'x/../../b', places)).toThrow(/targetDir/);
  });
});
