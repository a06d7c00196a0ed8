import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { fetchBytes } from '../../../../services/cli/skills-install/fetch.ts';
import type { Internet } from '../../../../shared/runtime/web-hosts.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});
const serve = async (listener: RequestListener): Promise<number> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};
const ask = (port: number, { net, withinMs }: { net?: Internet; withinMs?: number } = {}) => {
  const request = { url: new URL(`http://127.0.0.1:${port}/`), signal: new AbortController().signal };
  return fetchBytes({ ...request, ...(net && { net }) }, 1_000, withinMs);
};

test('A15/173: an answer that comes in drops is not waited for without end', async () => {
  const port = await serve((_, response) => {
    const timer = setInterval(() => response.write('.'), 5);
    response.on('close', () => clearInterval(timer));
  });
  await expect(ask(port, { withinMs: 100 })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/took longer than 0\.1 s/),
  });
});
test('A15/173: nor one that never ends, and one that never begins', async () => {
  const endless = await serve((_, response) => {
    const more = (): void => void (response.write('x'.repeat(100)) ? setImmediate(more) : response.once('drain', more));
    more();
  });
  await expect(ask(endless)).rejects.toMatchObject({ code: 'too_large' });
  const silent = await serve(() => {});
  await expect(ask(silent, { withinMs: 50 })).rejects.toMatchObject({ code: 'unavailable' });
});

test('A15/173: what is open to everybody leads to nothing that is not', async () => {
  /** To this net the server is a public one under its number, and a private one under its name. */
  const net: Internet = {
    addressesOf: async (host) => [{ address: host === 'localhost' ? '127.0.0.2' : host, family: 4 }],
    isPublic: (address) => address === '127.0.0.1',
  };
  let asked = 0;
  const port = await serve(({ url }, response) => {
    asked++;
    if (url === '/') response.writeHead(302, { location: `http://localhost:${port}/inside` });
    response.end('secret');
  });
  await expect(ask(port, { net })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(/"localhost" is not on the public internet/),
  });
  expect(asked).toBe(1);
  // Who is private itself may lead to others.
  expect(
    String(
      await ask(port, { net: { ...net, addressesOf: async () => [{ address: '127.0.0.1', family: 4 }], isPublic: () => false } }),
    ),
  ).toBe('secret');
});
