import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { mountDisk } from '../broker/small-disk.ts';
import { type Call, callerOf, pathOf, ready } from '../gateway/setup.ts';

/** The whole product on a disk that becomes full and gets room again (F26). The disk is a tmpfs, which only root can mount. */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const program = join(root, 'dist/services/cli/main.js');
const disk = mountDisk(640 * 1024 ** 2);
const dataDir = disk?.path ?? '';

const key = 'agent:main:main';
let up: ChildProcess;
let call: Call;
const printed: string[] = [];

const send = (text: string, path = '/messages') => call('POST', pathOf(key, path), { body: { text } });
const messages = async (): Promise<string[]> => {
  const { body } = await call('GET', pathOf(key, '/messages?limit=1000'));
  return body.messages.map(({ text }: { text: string }) => text);
};
const natter = (...words: string[]): string =>
  spawnSync(process.execPath, [program, ...words, '--data-dir', dataDir], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  }).stdout;

beforeAll(async () => {
  if (disk === null) return;
  const env = { ...process.env, NATTER_URL: '', NATTER_TOKEN: '', NATS_URL: '' };
  up = spawn(process.execPath, [program, 'up', '--port', '0', '--no-chat', '--data-dir', dataDir], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [up.stdout, up.stderr])
    if (stream) createInterface({ input: stream }).on('line', (line) => printed.push(line));
  await vi.waitFor(() => expect(printed.join('\n')).toContain('natter is up'), { timeout: 60_000 });
  const { url, token } = JSON.parse(readFileSync(join(dataDir, 'gateway.json'), 'utf8'));
  call = callerOf(url, token);
  await ready(call);
}, 120_000);
afterAll(async () => {
  if (up?.exitCode === null) {
    up.kill('SIGTERM');
    await once(up, 'exit');
  }
  disk?.remove();
});

test.skipIf(disk === null)(
  'a full disk is told by its code, and after it has room again everything acknowledged is there, once, and answered (I1, F26)',
  async () => {
    expect((await send('before', '/messages?wait=20')).body).toMatchObject({ reply: 'You said: before' });
    disk?.leaveFree();
    const acknowledged: string[] = [];
    await vi.waitFor(
      async () => {
        const text = `full ${acknowledged.length} ${'x'.repeat(5_000)}`;
        const { status, body } = await send(text);
        if (status === 202) acknowledged.push(text);
        expect(body).toMatchObject({ problem: 'storage_full', fix: expect.stringContaining('free space') });
      },
      { timeout: 30_000 },
    );
    const readiness = await call('GET', '/readyz');
    expect(readiness).toMatchObject({ status: 503 });
    expect(readiness.body.details.map(({ code }: { code: string }) => code)).toContain('storage_full');
    expect(natter('status')).toMatch(/^gateway .* not ready: .*storage_full[\s\S]*disk of the broker is full[\s\S]*→ free space/);
    expect(await messages()).toContain('before');

    disk?.makeRoom();
    await vi.waitFor(
      async () => expect((await call('GET', '/readyz')).body).toEqual({ status: 'ready', problems: [], details: [] }),
      {
        timeout: 30_000,
      },
    );
    expect((await send('after', '/messages?wait=30')).body).toMatchObject({ status: 'ok' });
    await vi.waitFor(
      async () => {
        const texts = await messages();
        for (const text of ['before', ...acknowledged, 'after']) expect(texts.filter((each) => each === text)).toHaveLength(1);
        expect(texts.join('\n')).toContain('You said: after');
      },
      { timeout: 30_000 },
    );
    expect(natter('status')).toMatch(/^gateway .* ready$/m);
  },
  120_000,
);
