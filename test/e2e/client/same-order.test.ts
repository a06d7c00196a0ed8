import { spawn, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { createParser } from 'eventsource-parser';
import { expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { tailCommand } from '../../../services/cli/commands/sessions/tail.ts';
import { createClient, type NatterEvent } from '../../../shared/client/main.ts';
import { eventTypes } from '../../../shared/domain/session/events.ts';
import { natter } from '../cli/natter.ts';
import { afterwards, startWorld, token } from '../gateway/setup.ts';
import { closedAfterwards } from './balancer.ts';

/** A browser's `EventSource` (WHATWG HTML), of the package that the official MCP client uses. */
type EventSourceConstructor = new (
  url: string,
) => {
  addEventListener(type: string, listener: (event: { data: string; lastEventId: string }) => void): void;
  close(): void;
};
const official = createRequire(createRequire(import.meta.url).resolve('@modelcontextprotocol/sdk/client/index.js'));
const { EventSource } = official('eventsource') as { EventSource: EventSourceConstructor };

/** What one reader has seen, in its order. */
type Seen = { readonly id: string; readonly event: NatterEvent }[];
type Client = ReturnType<typeof createClient>;

const byEventSource = async (client: Client): Promise<Seen> => {
  const seen: Seen = [];
  const source = new EventSource((await client.ticket('/v1/events?after=0')).url);
  for (const type of eventTypes)
    source.addEventListener(type, ({ lastEventId, data }) => seen.push({ id: lastEventId, event: JSON.parse(data) }));
  afterwards(async () => source.close());
  return seen;
};
const byCurl = (client: Client): Seen => {
  const seen: Seen = [];
  const headers = ['-H', `Authorization: Bearer ${token}`, '-H', 'Accept: text/event-stream'];
  const curl = spawn('curl', ['-sN', ...headers, `${client.url}/v1/events?after=0`], { stdio: ['ignore', 'pipe', 'inherit'] });
  const parser = createParser({ onEvent: ({ id = '', data }) => seen.push({ id, event: JSON.parse(data) }) });
  curl.stdout.setEncoding('utf8').on('data', (text: string) => parser.feed(text));
  afterwards(async () => void curl.kill());
  return seen;
};
const byTail = (client: Client): (() => Seen) => {
  const tail = natter(client.url, [tailCommand], 'tail', '--json', '--from', '1');
  afterwards(async () => {
    tail.interrupt();
    await tail.done;
  });
  return () => tail.out.map((line) => JSON.parse(line) as NatterEvent).map((event) => ({ id: event.id, event }));
};
const bySocket = async (client: Client): Promise<Seen> => {
  const seen: Seen = [];
  const connection = closedAfterwards(await client.connect());
  const items = await connection.subscribe({ after: 0 });
  void (async () => {
    for await (const item of items) if ('id' in item) seen.push({ id: item.id, event: item });
  })();
  return seen;
};

const hasCurl = spawnSync('curl', ['--version']).status === 0;

// Nothing else can stand for curl: without it on this machine one of the four readers is missing.
test.skipIf(!hasCurl)(
  'EventSource with a ticket, curl, natter tail and a WebSocket show the same events with the same ids in the same order',
  async () => {
    const { gateway } = await startWorld();
    const client = createClient({ url: gateway.url, token, WebSocket });
    await client.sessions.post('main', 'history', { wait: 10 });
    const [source, curl, tail, socket] = [await byEventSource(client), byCurl(client), byTail(client), await bySocket(client)];
    const keys = Array.from({ length: 40 }, (_, index) => `agent:main:s${index % 7}`);
    await Promise.all(keys.map((key, index) => client.sessions.post(key, `Grüße ${index} 👋\nand more`, { wait: 10 })));
    const { events } = await client.get<{ events: NatterEvent[] }>('/v1/events?limit=1000');
    const expected = events.map((event) => ({ id: event.id, event }));
    expect(expected.length).toBeGreaterThan(120);
    for (const seen of [() => source, () => curl, tail, () => socket]) await vi.waitFor(() => expect(seen()).toEqual(expected));
  },
);
