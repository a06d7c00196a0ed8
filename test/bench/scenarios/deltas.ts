import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createParser } from 'eventsource-parser';
import { listener } from '../../support/listener.ts';
import { openai } from '../../support/provider-server.ts';
import { keyOf, quantile } from '../load.ts';
import { type SetupName, setups, startSystem } from '../system.ts';
import type { Row } from '../table.ts';
import { freePort } from '../up.ts';

const turns = 200;
const token = 'bench-token-0123456789';

/** A provider whose every piece says when it left, 5 ms apart. */
const clockProvider = async () => {
  const server = createHttpServer(
    listener(async (request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(openai.begin());
      for (let piece = 0; piece < 20; piece++) {
        response.write(openai.text(`${performance.now()} `));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      response.end(openai.end('stop', { input: 1, output: 1 }));
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, close: () => server.closeAllConnections() };
};

/** From the provider through a session host, the broker and a gateway, each a process of its own, to a client of an event stream. */
export const deltaLatency = async (setup: SetupName): Promise<Row[]> => {
  const provider = await clockProvider();
  const port = await freePort();
  const system = await startSystem(setup, {
    agent: { model: 'clock/tick' },
    model: { providers: { clock: { kind: 'openai-compatible', baseUrl: provider.url } } },
    gateway: { port, token },
  });
  const stop = new AbortController();
  try {
    await system.start('checkpoint');
    await system.start('session');
    await system.start('gateway');
    const base = `http://127.0.0.1:${port}/v1/sessions/${encodeURIComponent(keyOf(0))}`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const say = async (): Promise<void> => {
      const body = JSON.stringify({ text: 'what time is it?' });
      const response = await fetch(`${base}/messages?wait=30`, { method: 'POST', headers, body });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    };
    await say();
    const first: number[] = [];
    const all: number[] = [];
    const stream = await fetch(`${base}/events?deltas=1`, {
      headers: { ...headers, accept: 'text/event-stream' },
      signal: stop.signal,
    });
    const parser = createParser({
      onEvent: ({ event, data }) => {
        if (event !== 'delta') return;
        const now = performance.now();
        const { text, offset } = JSON.parse(data) as { text: string; offset: number };
        for (const [index, left] of text.trim().split(' ').entries()) {
          if (index === 0 && offset === 0) first.push(now - Number(left));
          all.push(now - Number(left));
        }
      },
    });
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const bytes of stream.body ?? []) parser.feed(decoder.decode(bytes, { stream: true }));
    })().catch(() => {});
    for (let turn = 0; turn < turns + 20; turn++) await say();
    stop.abort();
    await reading;
    const row = (what: string, values: readonly number[]): Row => {
      const sorted = values.toSorted((a, b) => a - b);
      return {
        what,
        value: quantile(sorted, 0.99),
        unit: 'ms p99',
        note: `p50 ${quantile(sorted, 0.5).toFixed(1)} ms, ${sorted.length}`,
      };
    };
    return [
      { ...row(`first delta, provider to client (${setups[setup].title})`, first.slice(20)), goal: 'under 10 ms' },
      row('any delta', all.slice(20 * 20)),
    ];
  } finally {
    stop.abort();
    provider.close();
    await system.close();
  }
};
