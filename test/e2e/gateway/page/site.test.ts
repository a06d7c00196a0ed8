import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { callerOf, openBroker, openGateway } from '../setup.ts';

/** How the gateway serves the page. */

const start = async (given: object) => {
  const config = configSchema.parse(given);
  const { url } = await openGateway(openBroker().portsFor('gateway'), [], config);
  return { url, call: callerOf(url, null) };
};
const html = { accept: 'text/html,application/xhtml+xml' };

test('a browser gets the page under its own policy, a program gets JSON, and nobody is refused', async () => {
  const { call } = await start({ gateway: { port: 0 } });
  const page = await call('GET', '/', { headers: { ...html, 'accept-encoding': 'identity' } });
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const policy = String(page.headers['content-security-policy']);
  for (const part of ["default-src 'none'", "script-src 'self'", "require-trusted-types-for 'script'", "frame-ancestors 'none'"])
    expect(policy).toContain(part);
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  expect(page.headers['cross-origin-opener-policy']).toBe('same-origin');
  expect(page.text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/);
  expect((await call('GET', '/')).body).toMatchObject({ name: 'natter', page: true, api: '/v1/openapi.json' });
  expect((await call('GET', '/v1/sessions', { headers: html })).status).toBe(401);
});

test('its files are compressed, for ever the same under their names, and nothing else is served', async () => {
  const { call } = await start({ gateway: { port: 0 } });
  const { text } = await call('GET', '/', { headers: html });
  const [script = ''] = /\/assets\/[\w-]+\.js/.exec(text) ?? [];
  const plain = await call('GET', script);
  for (const encoding of ['br', 'gzip']) {
    const packed = await call('GET', script, { headers: { 'accept-encoding': encoding } });
    expect([packed.status, packed.headers['content-encoding'], packed.headers['cache-control']]).toEqual([
      ...[200, encoding, 'public, max-age=31536000, immutable'],
    ]);
    expect(packed.text.length).toBeLessThan(plain.text.length / 2);
  }
  for (const path of [
    '/assets/',
    '/assets/none.js',
    '/assets/../index.html',
    '/assets/%2e%2e/index.html',
    '/assets/..%2findex.html',
    `${script}.br`,
  ])
    expect((await call('GET', path)).status, path).toBeGreaterThanOrEqual(400);
});

test('its first load is at most 120 kB, in at most 8 requests', async () => {
  const { call } = await start({ gateway: { port: 0 } });
  const index = await call('GET', '/', { headers: html });
  const assets = new Set(index.text.match(/\/assets\/[\w.-]+/g));
  expect(assets.size).toBeGreaterThan(2);
  expect(assets.size + 1).toBeLessThanOrEqual(8);
  const headers = { 'accept-encoding': 'gzip' };
  const answers = await Promise.all([...assets].map((path) => call('GET', path, { headers })));
  const bytes = answers.reduce((sum, answer) => sum + Number(answer.headers['content-length']), index.text.length);
  expect(bytes).toBeGreaterThan(20_000);
  expect(bytes).toBeLessThanOrEqual(120_000);
});

test('nothing of the machine that built it is in it, whatever NODE_ENV was', () => {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const site = join(root, 'dist/services/page/site');
  const files = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(html|js|css|svg)$/.test(name));
  expect(files.length).toBeGreaterThan(10);
  for (const name of files) {
    const text = readFileSync(join(site, name), 'utf8');
    expect([text.includes(root), /\bfileName:|\bcolumnNumber:/.test(text)], name).toEqual([false, false]);
  }
});

test('is off for other machines unless it is switched on, and can be switched off', async () => {
  const open = { host: '0.0.0.0', allowPublicBind: true, port: 0 };
  for (const [given, isOn] of [
    [{ gateway: open }, false],
    [{ gateway: open, page: { enabled: true } }, true],
    [{ gateway: { port: 0 }, page: { enabled: false } }, false],
  ] as const) {
    const { url } = await start(given);
    const call = callerOf(url.replace('0.0.0.0', '127.0.0.1'), null);
    expect((await call('GET', '/')).body.page).toBe(isOn);
    const { headers } = await call('GET', '/', { headers: html });
    expect(String(headers['content-type']).startsWith('text/html')).toBe(isOn);
    const login = await call('POST', '/v1/page/login', { body: { code: 'x' } });
    expect(login.status).toBe(isOn ? 403 : 400);
  }
});

test('is served to its own names alone; gateway.publicUrl is one, and an origin of its own', async () => {
  const publicUrl = 'https://natter.example.org';
  const { url, call } = await start({ gateway: { port: 0, publicUrl, trustedProxies: ['127.0.0.1'] } });
  expect((await call('GET', '/', { headers: { ...html, host: 'natter.example.org' } })).status).toBe(200);
  expect((await call('GET', '/', { headers: { ...html, host: 'rebound.example' } })).status).toBe(400);
  const made = await callerOf(url)('POST', '/v1/page/codes', { body: {} });
  expect(made.body.publicUrl).toBe(publicUrl);
  const login = await call('POST', '/v1/page/login', { body: { code: made.body.code }, headers: { origin: publicUrl } });
  expect(login.status).toBe(201);
  expect(login.headers['access-control-allow-origin']).toBeUndefined();
});
