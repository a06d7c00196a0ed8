import { EventEmitter } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import type { GatewayContext } from '../../../services/gateway/context/gateway-context.ts';
import { sendDeferredSse } from '../../../services/gateway/operation/deferred-sse.ts';
import { limits } from '../../../shared/kit/limits.ts';

test('issue 5: a client that does not read is told so behind what it has, and does not take it for all of the answer', async () => {
  const written: string[] = [];
  const raw = Object.assign(new EventEmitter(), {
    writableLength: limits.streamBytes,
    writeHead: () => {},
    write: (frame: string) => written.push(frame) === 0,
    end: (frame: string) => {
      written.push(frame);
      raw.emit('close');
    },
    destroy: () => {},
  });
  // Time passes at once where somebody waits for a reader, and never for anything else.
  const sleep = (ms: number, signal?: AbortSignal) =>
    ms === limits.streamStallMs
      ? Promise.resolve()
      : new Promise<void>((done) => signal?.addEventListener('abort', () => done()));
  const context = { ports: { clock: { sleep } }, streams: { acquire: () => () => {} }, closing: new AbortController().signal };
  const left = new AbortController();
  raw.once('close', () => left.abort());
  await sendDeferredSse(
    context as unknown as GatewayContext,
    { actor: 'token', id: 'r' } as FastifyRequest,
    { raw, hijack: () => {}, getHeaders: () => ({}) } as unknown as FastifyReply,
    {
      signal: left.signal,
      begin: () => 'begin ',
      fail: (error) => ({ frame: `failed: ${(error as { code?: string }).code}`, isOurs: false }),
    },
    async (write) => {
      await write('text ');
      return 'done';
    },
  );
  expect(written.slice(-3)).toEqual(['begin ', 'text ', 'failed: overloaded']);
});
