import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseAptSources } from '../../../services/cli/broker/apt-sources.ts';
import { checksumOf } from '../../../services/cli/broker/from-release.ts';
import { resolveServer } from '../../../services/cli/broker/resolve.ts';
import { isNewEnough, parseServerVersion } from '../../../shared/adapters/nats/client/version.ts';
import { hasCode } from '../../../shared/kit/errors.ts';
import { testBinary } from '../../support/nats.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'natter-resolve-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A program that says it is nats-server of this version. */
const fake = async (place: string, output: string): Promise<string> => {
  await mkdir(join(folder, place), { recursive: true });
  const path = join(folder, place, 'nats-server');
  await writeFile(path, `#!/bin/sh\necho '${output}'\n`);
  await chmod(path, 0o755);
  return path;
};

describe('finding a nats-server', () => {
  test('one on PATH that is too old is named with both versions and not used', async () => {
    const path = await fake('bin', 'nats-server: v2.9.10');
    const warnings: string[] = [];
    const environment = { PATH: `/nowhere:${join(folder, 'bin')}`, XDG_CACHE_HOME: folder };
    expect(await resolveServer(environment, (message) => warnings.push(message))).toBeNull();
    expect(warnings).toEqual([`${path} is nats-server 2.9.10; Natter needs 2.12.0 or newer; it is not used`]);
  });

  test('behind a too old one on PATH, one that is new enough and then the cache are found', async () => {
    await fake('old', 'nats-server: v2.11.9');
    const cached = await fake('natter/nats-server/2.15.1', 'nats-server: v2.15.1');
    await fake('natter/nats-server/2.13.0', 'nats-server: v2.13.0');
    const PATH = join(folder, 'old');
    expect(await resolveServer({ PATH, XDG_CACHE_HOME: folder })).toEqual({ path: cached, version: '2.15.1', from: 'cache' });
    const newer = await fake('new', 'nats-server: v2.12.0');
    expect(await resolveServer({ PATH: `${PATH}:${join(folder, 'new')}`, XDG_CACHE_HOME: folder })).toEqual({
      path: newer,
      version: '2.12.0',
      from: 'PATH',
    });
  });

  test.each([
    ['nats-server: v2.11.9', /is nats-server 2\.11\.9; Natter needs 2\.12\.0 or newer/],
    ['something else 9.9.9', /is not a nats-server that can be run here/],
  ])('NATS_SERVER_BIN that says "%s" is an error, even with a good one on PATH', async (output, message) => {
    const NATS_SERVER_BIN = await fake('chosen', output);
    await fake('good', 'nats-server: v2.15.1');
    const error = await resolveServer({ NATS_SERVER_BIN, PATH: join(folder, 'good') }).catch((caught: unknown) => caught);
    expect(hasCode(error, 'unsupported')).toBe(true);
    expect(String(error)).toMatch(message);
  });

  test('a real one named by NATS_SERVER_BIN comes first', async () => {
    const { path, version } = await testBinary();
    await symlink(path, join(folder, 'mine'));
    await fake('good', 'nats-server: v2.99.0');
    const environment = { NATS_SERVER_BIN: join(folder, 'mine'), PATH: join(folder, 'good') };
    expect(await resolveServer(environment)).toEqual({ path: join(folder, 'mine'), version, from: 'NATS_SERVER_BIN' });
  });

  test.each([
    ['2.12.0', true],
    ['2.15.1', true],
    ['3.0.0', true],
    ['2.11.99', false],
    ['2.9.10', false],
    ['1.99.0', false],
    ['', false],
  ])('version "%s" is new enough: %s', (version, enough) => expect(isNewEnough(version)).toBe(enough));

  test('the version is read from what the program says', () => {
    expect(parseServerVersion('nats-server: v2.15.1\n')).toBe('2.15.1');
    expect(parseServerVersion('nats-server: v2.16.0-RC.1')).toBe('2.16.0');
    expect(parseServerVersion('no version')).toBeNull();
  });
});

describe("the machine's own archives", () => {
  test('one-line format', () => {
    const text = [
      '# deb http://no main x',
      'deb-src http://no/debian trixie main',
      'deb http://a/debian trixie main contrib # comment',
      'deb [arch=amd64 signed-by=/k.gpg,/l.gpg] http://b/debian trixie-updates main',
    ].join('\n');
    expect(parseAptSources('x.list', text)).toEqual([
      { uri: 'http://a/debian', suites: ['trixie'], components: ['main', 'contrib'], signedBy: null },
      { uri: 'http://b/debian', suites: ['trixie-updates'], components: ['main'], signedBy: '/k.gpg' },
    ]);
  });

  test('stanza format, with comments, several values, a key in the file and disabled ones', () => {
    const text = `Types: deb deb-src
# a comment
URIs: http://a/debian http://b/debian
Suites: trixie
 trixie-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc

Types: deb
URIs: http://off
Suites: trixie
Components: main
Enabled: no
`;
    const signedBy = '\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc';
    const rest = { suites: ['trixie', 'trixie-updates'], components: ['main'], signedBy };
    expect(parseAptSources('x.sources', text)).toEqual([
      { uri: 'http://a/debian', ...rest },
      { uri: 'http://b/debian', ...rest },
    ]);
  });
});

test('a checksum is found by the name of its file', () => {
  const list = 'aa11  one.tar.gz\nbb22 *two.tar.gz\n';
  expect([checksumOf(list, 'two.tar.gz'), checksumOf(list, 'tar.gz')]).toEqual(['bb22', undefined]);
});
