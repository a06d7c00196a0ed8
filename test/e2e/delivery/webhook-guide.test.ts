import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterEach, expect, test, vi } from 'vitest';
import { webhookOutlet } from '../../../services/delivery/outlets/webhook.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Outbound } from '../../../shared/ports/custody-log.ts';
import { keyOf } from '../../support/domain/commits.ts';

let stop = () => {};
afterEach(() => stop());

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};

const outbound: Outbound = {
  id: '7.0',
  seq: 7,
  key: keyOf('agent:main:main'),
  target: { channel: 'chat', to: 'ann' },
  kind: 'assistant_message',
  text: 'Grüße',
  turnId: 't',
};
const sendTo = (url: string, secret: string) =>
  webhookOutlet({ channel: 'chat', url, secret, timeoutMs: 5_000, attempts: 1, idempotent: true, clock: systemClock }).send(
    outbound,
    new AbortController().signal,
  );

test.each([
  ['with the library standardwebhooks', 'Webhook', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ['without a library', 'createHmac', 'right'],
])('the example of docs/integrate/webhooks.md %s takes genuine messages once and refuses the others', async (_, uses, right) => {
  const guide = await readFile(new URL('../../../docs/integrate/webhooks.md', import.meta.url), 'utf8');
  const example = [...guide.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code).find((code) => code.includes(uses));
  if (example === undefined) throw new Error(`the guide has no example with ${uses}`);
  const port = await freePort();
  const receiver = spawn(process.execPath, ['--input-type=module', '--eval', example], {
    env: { PORT: String(port), NATTER_SECRET: right },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stop = () => receiver.kill();
  let printed = '';
  receiver.stdout.on('data', (chunk) => {
    printed += chunk;
  });

  const send = (secret: string) => sendTo(`http://127.0.0.1:${port}`, secret);
  await vi.waitFor(async () => expect(await send(right)).toEqual({ kind: 'sent', detail: 'HTTP 204' }));
  expect(await send(right)).toEqual({ kind: 'sent', detail: 'HTTP 204' });
  for (const wrong of ['wrong', 'whsec_wrong'])
    expect(await send(wrong)).toEqual({ kind: 'refused', failure: 'auth', afterMs: 0, detail: 'HTTP 401' });
  await vi.waitFor(() => expect(printed).toBe('Grüße\n'));
});

test.each<[string, string, Webhook]>([
  ['a secret of Standard Webhooks', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', new Webhook('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')],
  ['any other secret', 'Schlüssel', new Webhook(Buffer.from('Schlüssel'), { format: 'raw' })],
  ['whsec_ and no base64', 'whsec_ü', new Webhook(Buffer.from('whsec_ü'), { format: 'raw' })],
])('the Standard Webhooks headers hold before its own library: %s', async (_, secret, library) => {
  const server = createServer().listen(0, '127.0.0.1');
  stop = () => server.close();
  await once(server, 'listening');
  const sent = sendTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, secret);
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  const body = Buffer.concat(await request.toArray()).toString();
  response.writeHead(204).end();
  await sent;
  const headers = request.headers as Record<string, string>;
  expect(library.verify(body, headers)).toMatchObject({ id: '7.0', text: 'Grüße' });
  expect(headers['webhook-id']).toBe(headers['natter-delivery-id']);
  expect(() => library.verify(`${body} `, headers)).toThrow('No matching signature found');
});
