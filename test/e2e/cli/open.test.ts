import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openCommand } from '../../../services/cli/commands/run/open.ts';
import { shareCommand } from '../../../services/cli/commands/sessions/share.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { startMiniHost } from '../../support/mini-host.ts';
import { type Replicas, startReplicas } from '../gateway/access/token-rig.ts';
import { afterwards, callerOf, openBroker, openGateway, ready } from '../gateway/setup.ts';
import { natter, natterIn } from './natter.ts';

/** `natter open` and `natter share`, in this process, against a gateway. */
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

describe('natter share', () => {
  const startShared = async (config: object = {}) => {
    const memory = openBroker();
    const { url } = await openGateway(memory.portsFor('gateway'), [], configSchema.parse({ gateway: { port: 0 }, ...config }));
    const host = await startMiniHost(memory.portsFor('host'), {});
    afterwards(() => host.close());
    const call = callerOf(url);
    await ready(call);
    await call('POST', '/v1/sessions/agent%3Amain%3Amain/messages?wait=30', { body: { text: 'hi' } });
    return { url, call };
  };
  const share = async (url: string, ...given: readonly string[]) => {
    const { out, notes, done } = natter(url, [shareCommand], 'share', ...given);
    await done;
    return { out, note: notes.join('\n') };
  };

  test('prints a link alone on standard output, for seven days, and how to take it back', async () => {
    const { url, call } = await startShared();
    const { out, note } = await share(url, 'main', '--label', 'for Bob');
    expect(out).toHaveLength(1);
    const [origin, token = ''] = out[0]?.split('/#share=') ?? [];
    expect(origin).toBe(url);
    const { body } = await callerOf(url, token)('GET', '/v1/sessions/agent%3Amain%3Amain/messages');
    expect(body.messages).toHaveLength(2);
    const [made] = (await call('GET', '/v1/tokens')).body.tokens;
    expect(made).toMatchObject({ role: 'viewer', sessionKey: 'agent:main:main', label: 'for Bob' });
    expect(made.expiresAt - made.createdAt).toBeGreaterThan(6.9 * 86_400_000);
    expect(made.expiresAt - made.createdAt).toBeLessThan(7.1 * 86_400_000);
    expect(note).toContain(`natter token revoke ${made.id}`);
    expect(note).toContain(new Date(made.expiresAt).toISOString().slice(0, 10));
  });

  test('takes the address of gateway.publicUrl', async () => {
    const { url } = await startShared({ gateway: { port: 0, publicUrl: 'https://natter.example.org' } });
    expect((await share(url, 'main', '--expires', '1d')).out[0]).toMatch(/^https:\/\/natter\.example\.org\/#share=/);
  });

  test('makes no link to a session that is not there, nor where the page is off', async () => {
    const { url, call } = await startShared();
    await expect(share(url, 'agent:main:nowhere')).rejects.toMatchObject({ code: 'not_found' });
    const off = await startShared({ page: { enabled: false } });
    await expect(share(off.url, 'main')).rejects.toThrow('page.enabled');
    for (const each of [call, off.call]) expect((await each('GET', '/v1/tokens')).body.tokens).toEqual([]);
  });
});
