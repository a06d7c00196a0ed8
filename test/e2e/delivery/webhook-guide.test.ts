import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

test('the example of docs/integrate/webhooks.md takes genuine messages once and refuses the others', async () => {
  const guide = await readFile(new URL('../../../docs/integrate/webhooks.md', import.meta.url), 'utf8');
  const example = /```js\n(.*?)```/s.exec(guide)?.[1] ?? '';
  const port = await freePort();
  const receiver = spawn(process.execPath, ['--input-type=module', '--eval', example], {
    env: { PORT: String(port), NATTER_SECRET: 'right' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stop = () => receiver.kill();
  let printed = '';
  receiver.stdout.on('data', (chunk) => {
    printed += chunk;
  });

  const outbound: Outbound = {
    id: '7.0',
    seq: 7,
    key: keyOf('agent:main:main'),
    target: { channel: 'chat', to: 'ann' },
    kind: 'assistant_message',
    text: 'Grüße',
    turnId: 't',
  };
  const send = (secret: string) =>
    webhookOutlet({
      channel: 'chat',
      url: `http://127.0.0.1:${port}`,
      secret,
      timeoutMs: 5_000,
      attempts: 1,
      idempotent: true,
      clock: systemClock,
    }).send(outbound, new AbortController().signal);
  await vi.waitFor(async () => expect(await send('right')).toEqual({ kind: 'sent', detail: 'HTTP 204' }), { timeout: 10_000 });
  expect(await send('right')).toEqual({ kind: 'sent', detail: 'HTTP 204' });
  expect(await send('wrong')).toEqual({ kind: 'refused', failure: 'auth', afterMs: 0, detail: 'HTTP 401' });
  await vi.waitFor(() => expect(printed).toBe('Grüße\n'));
});
