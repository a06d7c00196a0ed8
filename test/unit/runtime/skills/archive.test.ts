import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ArchiveKind, archiveKind, unpack } from '../../../../services/cli/skills-install/archive.ts';
import type { UnpackLimits } from '../../../../services/cli/skills-install/unpacked.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type Entry, tarGzOf, tarOf, zipOf } from '../../../support/archives.ts';
import { type TemporaryFolder, temporaryFolder } from './folders.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const usual: UnpackLimits = { files: 20, bytes: 4 * 1024 * 1024 };
const unpacked = async (kind: ArchiveKind, bytes: Buffer, bounds = usual): Promise<string> => {
  writeFileSync(folder.at('archive'), bytes);
  mkdirSync(folder.at('a/b/content'), { recursive: true });
  await unpack(folder.at('archive'), kind, folder.at('a/b/content'), bounds);
  return folder.at('a/b/content');
};
/** Everything below the temporary folder that is neither the archive nor unpacked. Links are not followed. */
const strays = (): string[] =>
  readdirSync(folder.path, { recursive: true, withFileTypes: true })
    .map((entry) => relative(folder.path, join(entry.parentPath, entry.name)))
    .filter((path) => !/^(archive|a|a\/b|a\/b\/content.*)$/.test(path));
const bzipped = (bytes: Buffer): Buffer => execFileSync('bzip2', ['-c'], { input: bytes });

const plain: readonly Entry[] = [
  { path: 'top/', type: 'Directory', mode: 0o40755 },
  { path: 'top/bin/run', text: '#!/bin/sh\n', mode: 0o100755 },
  { path: './top/read me.txt', text: 'Hello.' },
];

describe('A15/169: archives are unpacked', () => {
  test.each([
    ['zip', zipOf(plain.map((entry) => ({ ...entry, path: entry.path.replace(/^\.\//, '') })))],
    ['tar.gz', tarGzOf(plain)],
    ['tar.bz2', bzipped(tarOf(plain))],
  ] as const)('%s, with what is a program and what is not, and without leading folders', async (kind, bytes) => {
    const content = await unpacked(kind, bytes, { ...usual, strip: 1 });
    expect(readFileSync(`${content}/read me.txt`, 'utf8')).toBe('Hello.');
    expect(lstatSync(`${content}/bin/run`).mode & 0o7777).toBe(0o755);
    expect(lstatSync(`${content}/read me.txt`).mode & 0o111).toBe(0);
  });

  test('a link that stays inside is kept where links may be', async () => {
    const entries = [
      { path: 'lib/one.so.1', text: 'library' },
      { path: 'lib/one.so', type: 'SymbolicLink', link: 'one.so.1' },
      { path: 'one', type: 'SymbolicLink', link: './lib/one.so' },
    ];
    const content = await unpacked('tar.gz', tarGzOf(entries), { ...usual, links: true });
    expect(readFileSync(`${content}/one`, 'utf8')).toBe('library');
  });

  test.each([
    [undefined, 'x-1.0.tgz', 'tar.gz'],
    [undefined, 'x.ZIP', 'zip'],
    [undefined, 'x.tar.bz2', 'tar.bz2'],
    ['zip', 'x', 'zip'],
    ['.tar.gz', 'x', 'tar.gz'],
    [undefined, 'model.onnx', null],
  ] as const)('the kind of %j, %j is %j', (said, name, kind) => expect(archiveKind(said, name)).toBe(kind));
  test('another kind is refused by its name', () => expect(() => archiveKind('rar', 'x.rar')).toThrow(/archive: "rar"/));
});

describe('A15/173: a hostile archive is refused, and nothing is outside of its folder', () => {
  const big = Buffer.alloc(3 * 1024 * 1024);
  const many = Array.from({ length: 21 }, (_, index) => ({ path: `file-${index}` }));
  const hostile: readonly [what: string, entries: readonly Entry[], problem: RegExp][] = [
    ['a path upwards', [{ path: '../../escaped', text: 'x' }], /leads out|\.\./],
    ['a path upwards within', [{ path: 'one/../../../escaped', text: 'x' }], /leads out|\.\./],
    ['an absolute path', [{ path: `${'/tmp'}/natter-escaped`, text: 'x' }], /leads out|absolute/],
    ['a path of Windows', [{ path: 'C:\\escaped', text: 'x' }], /leads out|invalid characters/],
    ['a backslash', [{ path: '..\\escaped', text: 'x' }], /leads out|invalid characters/],
    [
      'the same file twice',
      [
        { path: 'one', text: 'a' },
        { path: 'one', text: 'b' },
      ],
      /twice/,
    ],
    ['too many files', many, /more than 20 files/],
    ['too deep folders', [{ path: `${'a/'.repeat(40)}b`, text: 'x' }], /folders deep/],
    ['too long a path', [{ path: `${`${'a'.repeat(100)}/`.repeat(11)}b`, text: 'x' }], /too long/],
    ['a bomb by ratio', [{ path: 'zeros', text: big }], /more than \d+ bytes/],
  ];
  test.each(hostile)('zip: %s', async (_, entries, problem) => {
    await expect(unpacked('zip', zipOf(entries))).rejects.toThrow(problem);
    expect(strays()).toEqual([]);
  });
  // A tar of ours keeps long paths in other records.
  test.each(hostile.filter(([what]) => !what.startsWith('too long')))('tar: %s', async (_, entries, problem) => {
    await expect(unpacked('tar.gz', tarGzOf(entries))).rejects.toThrow(problem);
    expect(strays()).toEqual([]);
  });

  test('too many bytes, though they do not shrink', async () => {
    const noise = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * index * 7919) % 251));
    const bounds = { files: 20, bytes: 50_000 };
    const entries = [{ path: 'noise', text: noise }];
    for (const [kind, bytes] of [
      ['zip', zipOf(entries)],
      ['tar.gz', tarGzOf(entries)],
      ['tar.bz2', bzipped(tarOf(entries))],
    ] as const) {
      await expect(unpacked(kind, bytes, bounds), kind).rejects.toThrow(/more than 50000 bytes/);
      folder.remove();
      folder = temporaryFolder();
    }
  });

  test.each(['tar.gz', 'tar.bz2'] as const)(
    '%s: a bomb that is packed twice, which its parser would unpack too',
    async (kind) => {
      const inner = tarGzOf([{ path: 'zeros', text: Buffer.alloc(32 * 1024 * 1024) }]);
      await expect(unpacked(kind, kind === 'tar.gz' ? gzipSync(inner) : bzipped(inner))).rejects.toThrow(/more than \d+ bytes/);
      expect(lstatSync(folder.at('a/b/content/zeros')).size).toBeLessThanOrEqual(1024 * 1024);
    },
  );
  test('tar.bz2: one that ends too early, though between two of its files', async () => {
    const [one, two] = ['one', 'two'].map((path) => bzipped(tarOf([{ path, text: 'x'.repeat(512) }]).subarray(0, 1_024)));
    for (let times = 0; times < 5; times++) {
      const bytes = Buffer.concat([one!, two!.subarray(0, 40)]);
      await expect(unpacked('tar.bz2', bytes)).rejects.toThrow(/bzip2 ended with/);
      folder.remove();
      folder = temporaryFolder();
    }
  });

  test('a file that is larger than the archive says', async () => {
    await expect(unpacked('zip', zipOf([{ path: 'one', text: 'x'.repeat(5_000), claims: 10 }]))).rejects.toThrow(/bytes|size/);
  });

  test.each([0o120777, 0o060644, 0o010644, 0o020644])('zip: a file of the mode %o', async (mode) => {
    await expect(unpacked('zip', zipOf([{ path: 'one', text: '/etc/passwd', mode }]))).rejects.toThrow(/neither a file/);
  });

  const links: readonly [what: string, entries: readonly Entry[]][] = [
    ['upwards', [{ path: 'out', type: 'SymbolicLink', link: '../../..' }]],
    ['to an absolute path', [{ path: 'out', type: 'SymbolicLink', link: '/etc' }]],
    ['to nothing', [{ path: 'out', type: 'SymbolicLink', link: 'missing' }]],
    [
      'out by way of another',
      [
        { path: 'one/two/', type: 'Directory' },
        { path: 'one/two/top', type: 'SymbolicLink', link: '../..' },
        { path: 'out', type: 'SymbolicLink', link: 'one/two/top/..' },
      ],
    ],
    ['to itself', [{ path: 'out', type: 'SymbolicLink', link: 'out' }]],
    [
      'that a later file is to go through',
      [
        { path: 'out', type: 'SymbolicLink', link: '..' },
        { path: 'out/escaped', text: 'x' },
      ],
    ],
  ];
  test.each(links)('tar: a link %s', async (_, entries) => {
    await expect(unpacked('tar.gz', tarGzOf(entries), { ...usual, links: true })).rejects.toThrow();
    expect(strays()).toEqual([]);
  });
  test('tar: any link where none may be, a hard link, a device, a pipe', async () => {
    for (const type of ['SymbolicLink', 'Link', 'CharacterDevice', 'BlockDevice', 'FIFO']) {
      const entries = [
        { path: 'one', text: 'x' },
        { path: 'two', type, ...(type.endsWith('Link') && { link: 'one' }) },
      ];
      await expect(unpacked('tar.gz', tarGzOf(entries), usual)).rejects.toThrow(/is a link|neither a file/);
      folder.remove();
      folder = temporaryFolder();
    }
  });

  test.each([
    ['zip', Buffer.from('no archive at all')],
    ['zip', zipOf(plain).subarray(0, 100)],
    ['tar.gz', Buffer.from('no archive at all')],
    ['tar.gz', tarGzOf(plain).subarray(0, 60)],
    ['tar.gz', gzipSync(Buffer.alloc(2_048, 'x'))],
    ['tar.bz2', Buffer.from('no archive at all')],
  ] as const)('%s: what is broken', async (kind, bytes) => {
    await expect(unpacked(kind, bytes)).rejects.toMatchObject({ code: 'invalid' });
  });
});

test('the bounds of real downloads are larger than those of a skill', () => {
  expect(limits.archiveBytes).toBeGreaterThan(limits.skillBytes);
});
