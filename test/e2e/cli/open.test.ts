import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openCommand } from '../../../services/cli/commands/run/open.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { type Replicas, startReplicas } from '../gateway/access/token-rig.ts';
import { callerOf, openBroker, openGateway } from '../gateway/setup.ts';
import { natterIn } from './natter.ts';

/** `natter open`, in this process, against a gateway. */
const open = async ({ urls }: Pick<Replicas, 'urls'>, env: Readonly<Record<string, string>>, ...given: readonly string[]) => {
  const { out, notes, done } = natterIn(env, urls[0], [openCommand], 'open', ...given);
  await done;
  return { out, note: notes.join('\n') };
};
/** Signs the page in with the code in an address; resolves with its role, or the status that refused it. */
const signIn = async ({ urls }: Replicas, address: string): Promise<unknown> => {
  const [origin = '', code = ''] = address.split('/#code=');
  expect(origin).toBe(urls[0]);
  const { status, body } = await callerOf(urls[0], null)('POST', '/v1/page/login', { body: { code }, headers: { origin } });
  return body.role ?? status;
};
/** A folder that is the whole `PATH` until the test is over. */
const onlyPath = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-open-'));
  vi.stubEnv('PATH', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
};
/** Puts a program there that notes the address it is to open. */
const addBrowser = (folder: string): string => {
  const opened = join(folder, 'opened');
  for (const name of ['xdg-open', 'open']) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho "$1" > ${opened}.part && /bin/mv ${opened}.part ${opened}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return opened;
};

test('--print gives an address alone on standard output that signs in once, with the role that was asked for', async () => {
  const replicas = await startReplicas();
  const { out, note } = await open(replicas, {}, '--print', '--role', 'read-only');
  expect(out).toHaveLength(1);
  expect(note).not.toContain('natter_');
  expect(await signIn(replicas, out[0] as string)).toBe('read-only');
  expect(await signIn(replicas, out[0] as string)).toBe(401);
});

test('it opens the browser with an address that signs in, and prints none', async () => {
  const replicas = await startReplicas();
  const opened = addBrowser(onlyPath());
  const { out, note } = await open(replicas, {});
  expect([out, note]).toEqual([[], expect.stringContaining('signed in as admin')]);
  await vi.waitFor(() => expect(existsSync(opened)).toBe(true), { timeout: 15_000 });
  expect(await signIn(replicas, readFileSync(opened, 'utf8').trim())).toBe('admin');
});

test('without a browser, and over SSH, it prints the address, and how to reach it from the other machine', async () => {
  const replicas = await startReplicas();
  const folder = onlyPath();
  const { out } = await open(replicas, {});
  expect(await signIn(replicas, out[0] as string)).toBe('admin');
  const opened = addBrowser(folder);
  const remote = await open(replicas, { SSH_CONNECTION: '203.0.113.7 1 203.0.113.8 22' });
  expect(await signIn(replicas, remote.out[0] as string)).toBe('admin');
  expect(remote.note).toContain(`ssh -L ${new URL(replicas.urls[0]).port}:127.0.0.1:`);
  expect(existsSync(opened)).toBe(false);
});

test('a page that is switched off says so', async () => {
  const config = configSchema.parse({ gateway: { port: 0 }, page: { enabled: false } });
  const { url } = await openGateway(openBroker().portsFor('gateway'), [], config);
  await expect(open({ urls: [url, url] }, {}, '--print')).rejects.toThrow('page.enabled');
});
