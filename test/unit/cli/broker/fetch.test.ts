import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { create } from 'tar';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fetchFromApt } from '../../../../services/cli/broker/from-apt.ts';
import { fetchFromRelease } from '../../../../services/cli/broker/from-release.ts';
import { testedServerVersion } from '../../../../shared/adapters/nats/client/version.ts';

let folder: string;
let said: string[];
const progress = { note: (line: string) => said.push(line), progress: (text: string) => said.push(`… ${text}`) };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'natter-fetch-'));
  said = [];
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
describe.runIf(process.platform === 'linux' && architecture !== undefined)('the release', () => {
  const name = `nats-server-v${testedServerVersion}-linux-${architecture}`;
  let mirror: Server;
  let sums: string;
  beforeEach(async () => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'nats-server'), 'the program');
    await create({ file: join(folder, 'made.tar.gz'), cwd: folder, gzip: true }, [name]);
    const archive = readFileSync(join(folder, 'made.tar.gz'));
    sums = `${createHash('sha256').update(archive).digest('hex')}  ${name}.tar.gz\n`;
    mirror = createServer(({ url }, response) => response.end(url?.endsWith('/SHA256SUMS') ? sums : archive));
    await new Promise<void>((listening) => mirror.listen(0, '127.0.0.1', listening));
  });
  afterEach(() => mirror.close());
  const fetched = () => {
    const { port } = mirror.address() as AddressInfo;
    return fetchFromRelease({ environment: { NATTER_NATS_MIRROR: `http://127.0.0.1:${port}` }, folder, progress });
  };

  test('says where it comes from and what is checked, and how much there is', async () => {
    expect(readFileSync((await fetched()) ?? '', 'utf8')).toBe('the program');
    expect(said.slice(0, 2).join('\n')).toMatch(/about 7 MB from 127\.0\.0\.1:\d+, release [\d.]+;\n.*checksum is compared/);
    expect(said.at(-1)).toMatch(/^… downloading nats-server: 0\.0 MB( of 0\.0 MB)?$/);
  });

  test('is refused if its checksum is another one', async () => {
    sums = `${'0'.repeat(64)}  ${name}.tar.gz\n`;
    await expect(fetched()).rejects.toThrow(/has the checksum [0-9a-f]{64}; its release says 0{64}/);
  });
});

describe.runIf(existsSync('/etc/debian_version'))("the distribution's package", () => {
  test('says why it is safe to take it over plain http, and each step', async () => {
    const programs = {
      'apt-get': 'case "$*" in *download*) touch nats-server_1.deb;; esac',
      'dpkg-deb': 'exit 0',
    };
    for (const [program, script] of Object.entries(programs)) {
      writeFileSync(join(folder, program), `#!/bin/sh\n${script}\n`);
      chmodSync(join(folder, program), 0o755);
    }
    vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`);
    expect(await fetchFromApt({ environment: {}, folder, progress })).toContain(join(folder, 'content'));
    expect(said.join('\n')).toMatch(
      /about 16 MB from \S+, your distribution's own archive \(its suite "\w+", for this program alone\);\n.*checks the signature with the key/,
    );
    expect(said.slice(2)).toEqual([
      '… step 1 of 3: reading the list of packages …',
      '… step 2 of 3: downloading nats-server …',
      '… step 3 of 3: unpacking nats-server …',
    ]);
  });
});
