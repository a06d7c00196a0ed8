import { getEventListeners } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createClient, type StreamItem } from '../../../shared/client/main.ts';
import { serve } from './server.ts';

const frame = (id: string, data: object, event = 'user_message') =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
const head = { 'content-type': 'text/event-stream; charset=utf-8' };
const problem = (body: object) => JSON.stringify(body);

/** Items until there are so many. */
const take = async (items: AsyncIterable<StreamItem>, count: number): Promise<any[]> => {
  const taken: any[] = [];
  for await (const item of items) if (taken.push(item) === count) break;
  return taken;
};

test('goes on after the last event it had, however often it breaks, and says why it has to', async () => {
  const resumed: (string | undefined)[] = [];
  const { client } = await serve((request, response) => {
    resumed.push(request.headers['last-event-id'] as string | undefined);
    if (resumed.length === 2)
      return void response.writeHead(503).end(problem({ code: 'unavailable', detail: 'later', retryAfterMs: 5 }));
    response.writeHead(200, head);
    const five = frame('5.0', { text: 'five' });
    const sixth = frame('5.1', { text: 'fünf' });
    if (resumed.length === 1) response.write('id: 4\n: after 4\n\n', () => request.destroy());
    else if (resumed.length === 3) response.write(five + sixth.slice(0, 40), () => request.destroy());
    else if (resumed.length === 4) response.end(frame('5.0', { code: 'overloaded', detail: 'too slow' }, 'error'));
    else response.write(sixth);
  });
  const reasons: string[] = [];
  const items = await take(client.events({ onWaiting: (reason) => reasons.push(reason) }), 2);
  expect(items).toEqual([{ text: 'five' }, { text: 'fünf' }]);
  expect(resumed).toEqual([undefined, '4', '4', '5.0', '5.0']);
  expect(reasons).toEqual([expect.stringContaining('broke off'), 'later', expect.stringContaining('broke off'), 'too slow']);
});

test.each([502, 504])('goes on where it was while a proxy says that the gateway is away (%i)', async (status) => {
  let calls = 0;
  const { client } = await serve((_, response) => {
    calls += 1;
    if (calls === 1) response.writeHead(status, { 'content-type': 'text/html' }).end('<html>');
    else response.writeHead(200, head).write(frame('1.0', { text: 'one' }));
  });
  expect(await take(client.events(), 1)).toEqual([{ text: 'one' }]);
});

test('a gateway that takes the call and says nothing is given up', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const silent: typeof fetch = (_, init) =>
    new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
  const client = createClient({ url: 'http://127.0.0.1:1', token: '', fetch: silent });
  const reasons: string[] = [];
  const enough = new AbortController();
  const next = client.events({ signal: enough.signal, onWaiting: (reason) => reasons.push(reason) }).next();
  await vi.advanceTimersByTimeAsync(46_000);
  expect(reasons).toHaveLength(1);
  enough.abort();
  await vi.advanceTimersByTimeAsync(10);
  expect(await next).toMatchObject({ done: true });
});

test('asks for what it is told to', async () => {
  const asked: string[] = [];
  const { client } = await serve((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(200, head).write(frame('1.0', {}));
  });
  await take(client.events({ key: 'agent:main:main', live: true, after: 7, types: ['notice', 'user_message'] }), 1);
  await take(client.events({ keyPrefix: 'agent:main', after: '7.1' }), 1);
  expect(asked).toEqual([
    '/v1/sessions/agent%3Amain%3Amain/events?deltas=1&type=notice&type=user_message&after=7',
    '/v1/events?key=agent%3Amain&after=7.1',
  ]);
});

test('C9: a gap is handed out as the gateway tells it; live text is told apart by its type', async () => {
  const erased = { id: '9.0', key: 'k', type: 'session_deleted', mode: 'erased' };
  const gap = { type: 'gap', key: 'k', before: '9.0' };
  const { client } = await serve((_, response) =>
    response
      .writeHead(200, head)
      .write(`event: delta\ndata: {"key":"k","text":"x"}\n\n${frame('8', gap, 'gap')}${frame('9.0', erased, 'session_deleted')}`),
  );
  expect(await take(client.events(), 3)).toEqual([{ type: 'delta', key: 'k', text: 'x' }, gap, erased]);
});

test.each([
  [
    400,
    { 'content-type': 'application/problem+json' },
    problem({ code: 'invalid', detail: 'this cursor is from another log' }),
    'invalid',
  ],
  [401, {}, problem({ code: 'unauthorized' }), 'unauthorized'],
  [200, { 'content-type': 'text/html' }, '<html>', 'unexpected'],
  [200, head, `data: ${'x'.repeat(5 * 1024 * 1024)}`, 'unexpected'],
  [200, head, 'data: hello\n\n', 'unexpected'],
])('a refusal that time does not mend ends it (%i, %j)', async (status, headers, body, code) => {
  const { client } = await serve((_, response) => response.writeHead(status, headers).end(body));
  await expect(client.events().next()).rejects.toMatchObject({ code });
});

test('the signal ends it while it waits, and a reader who leaves ends the connection', async () => {
  let open = 0;
  const { client } = await serve((_, response) => {
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
    response.writeHead(200, head).write(frame('1.0', {}));
  });
  const enough = new AbortController();
  const items = client.events({ signal: enough.signal });
  await items.next();
  const waiting = items.next();
  enough.abort();
  expect(await waiting).toEqual({ done: true, value: undefined });
  await take(client.events(), 1);
  await expect.poll(() => open).toBe(0);
});

test('a reader that throws has its own error, ends its connection, and begins again after what it had', async () => {
  const asked: (string | null)[] = [];
  let open = 0;
  const { client } = await serve((request, response) => {
    asked.push(new URL(request.url ?? '', 'http://x').searchParams.get('after'));
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
    response.writeHead(200, head).write(frame('1.0', { id: '1.0' }) + frame('2.0', { id: '2.0' }));
  });
  const reading = (async () => {
    for await (const _ of client.events({ after: 0 })) throw new RangeError('the handler is broken');
  })();
  await expect(reading).rejects.toThrow(new RangeError('the handler is broken'));
  await expect.poll(() => open).toBe(0);
  await take(client.events({ after: '1.0' }), 1);
  expect(asked).toEqual(['0', '1.0']);
});

test('nothing is handed out after the signal, of what has come already neither', async () => {
  const { client } = await serve((_, response) => {
    response.writeHead(200, head).write(frame('1.0', { n: 1 }) + frame('1.1', { n: 2 }));
  });
  const enough = new AbortController();
  const seen: unknown[] = [];
  for await (const item of client.events({ signal: enough.signal })) {
    seen.push(item);
    enough.abort();
  }
  expect(seen).toEqual([{ n: 1 }]);
  expect(getEventListeners(enough.signal, 'abort')).toEqual([]);
});

test('what nobody knows yet is handed out as it is', async () => {
  const { client } = await serve((_, response) =>
    response
      .writeHead(200, head)
      .write(`: hm\nretry: 5\n\n${frame('1.0', { type: 'of_tomorrow', text: 'x', more: [1] }, 'of_tomorrow')}`),
  );
  expect(await take(client.events(), 1)).toEqual([{ type: 'of_tomorrow', text: 'x', more: [1] }]);
});

test('an event may be of a megabyte, and come byte by byte', async () => {
  const text = 'ü👋'.repeat(200_000);
  const { client } = await serve(async (_, response) => {
    const bytes = Buffer.from(frame('1.0', { text }));
    response.writeHead(200, head);
    for (let at = 0; at < 2_000; at++) response.write(bytes.subarray(at, at + 1));
    for (let at = 2_000; at < bytes.length; at += 9_999) response.write(bytes.subarray(at, at + 9_999));
  });
  expect(await take(client.events(), 1)).toEqual([{ text }]);
});

test.each([
  [{ key: 'main', keyPrefix: 'agent' }, 'key=agent'],
  [{ live: true }, 'deltas=1'],
])('what does not go together is the gateway’s to refuse (%j)', async (filter, query) => {
  const { client } = await serve((request, response) =>
    response.writeHead(400).end(problem({ code: 'invalid', detail: new URL(request.url ?? '', 'http://x').search })),
  );
  await expect(client.events(filter).next()).rejects.toMatchObject({ code: 'invalid', detail: `?${query}` });
});

test('nothing is read ahead of a slow reader but a bounded portion', async () => {
  const text = 'x'.repeat(100_000);
  let written = 0;
  let isOver = false;
  const { client } = await serve((_, response) => {
    response.writeHead(200, head).on('close', () => {
      isOver = true;
    });
    const more = (): void => {
      while (!isOver && written < 2_000 && response.write(frame(`${++written}.0`, { text }))) {}
    };
    response.on('drain', more);
    more();
  });
  const items = client.events();
  await items.next();
  // The sockets' own buffers take some MB; two hundred are waiting.
  const seen: number[] = [];
  await expect.poll(() => seen.push(written) > 1 && seen.at(-1) === seen.at(-2), { interval: 200 }).toBe(true);
  expect(written).toBeLessThan(500);
  await items.return(undefined);
});
