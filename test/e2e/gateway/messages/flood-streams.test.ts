import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type GatewayProcess, type GatewayRigs, startGateways } from '../gateway-process.ts';
import { afterwards, type Call, callerOf, openStream, pathOf, token } from '../setup.ts';

/** Issue 5: very many event streams at a gateway in a process of its own, of which some are never read. */

const clients = 500;
const silentClients = 50;
/** Messages with much text, which only those who read everything get. */
const loud = 'agent:main:loud';
const quiet = 'agent:main:irc:group:quiet';
const [longTexts, longText] = [80, 'x'.repeat(100_000)];

let gateways: GatewayRigs;
beforeAll(async () => {
  gateways = await startGateways();
});
afterAll(() => gateways.close());

interface Reader {
  /** Ids of the events, as they came. */
  readonly ids: string[];
  /** Whatever comes besides events. */
  readonly others: string[];
  readonly answer: IncomingMessage;
  readonly ended: Promise<void>;
}
/** A stream whose frames are read as lines: hundreds of real parsers would be what is measured. */
const read = (gateway: GatewayProcess, path: string): Promise<Reader> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    const request = get(`${gateway.url}${path}`, { agent: false, headers }, (answer) => {
      const [ids, others]: [string[], string[]] = [[], []];
      let rest = '';
      answer.setEncoding('latin1').on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const id = line.startsWith('id: ') ? line.slice(4) : null;
          if (id?.includes('.')) ids.push(id);
          if (line.startsWith('event: error')) others.push(line);
          if (line.startsWith('data: {"code"')) others.push(line);
        }
      });
      resolve({ ids, others, answer, ended: new Promise((end) => answer.once('close', end).on('error', () => {})) });
    });
    request.on('error', reject);
    afterwards(async () => void request.destroy());
  });
const readMany = (count: number, gateway: GatewayProcess, path: string): Promise<Reader[]> =>
  Promise.all(Array.from({ length: count }, () => read(gateway, path)));

const idsIn = async (call: Call, query = ''): Promise<string[]> =>
  (await call('GET', `/v1/events?limit=1000${query}`)).body.events.map(({ id }: { id: string }) => id);

test('500 streams of which 50 are never read: all others get each event in order, the 50 are closed with their cursor, memory is bounded', async () => {
  const gateway = await gateways.gateway({ stallMs: 1_500 });
  const call = callerOf(gateway.url);
  const ends = '&type=turn_completed';
  const all = await readMany(20, gateway, '/v1/events?after=0');
  const ofTurns = await readMany(230, gateway, `/v1/events?after=0${ends}`);
  const ofQuiet = await readMany(200, gateway, '/v1/events?after=0&key=agent:main:irc');
  const silent = await readMany(silentClients, gateway, '/v1/events?after=0');
  for (const { answer } of silent) answer.pause();
  expect(all.length + ofTurns.length + ofQuiet.length + silent.length).toBe(clients);
  const open = async (): Promise<string> =>
    /natter_event_streams\S* (\d+)/.exec((await call('GET', '/metrics')).text)?.[1] ?? 'none';
  expect(await open()).toBe(String(clients));

  const took: number[] = [];
  let most = 0;
  for (let message = 0; message < longTexts; message++) {
    const began = performance.now();
    const body = { text: longText, mode: 'append' };
    expect((await call('POST', pathOf(loud, '/messages?wait=5'), { body })).status).toBe(200);
    if (message % 10 === 0) await call('POST', pathOf(quiet, '/messages'), { body: { text: 'hello' } });
    took.push(performance.now() - began);
    most = Math.max(most, gateway.memory());
  }
  expect(Math.max(...took)).toBeLessThan(2_000);
  const [events, turns, ofKey] = [await idsIn(call), await idsIn(call, ends), await idsIn(call, '&key=agent:main:irc')];
  expect([events.length > longTexts, turns.length, ofKey.length > turns.length]).toEqual([true, longTexts / 10, true]);
  const wanted = [...all.map(() => events), ...ofTurns.map(() => turns), ...ofQuiet.map(() => ofKey)];
  const readers = [...all, ...ofTurns, ...ofQuiet];
  await vi.waitFor(() => expect(readers.every(({ ids }, at) => ids.length === wanted[at]?.length)).toBe(true));
  expect(readers.map(({ ids }) => ids)).toEqual(wanted);
  expect(readers.flatMap(({ others }) => others)).toEqual([]);

  await vi.waitFor(async () => expect(await open()).toBe(String(clients - silentClients)));
  most = Math.max(most, gateway.memory());
  // What the silent may leave unread, twice, because what is on its way to the kernel counts too, and the process itself.
  expect(most).toBeLessThan(300);
  const [late] = silent as [Reader];
  late.answer.resume();
  await late.ended;
  const last = late.ids.at(-1) ?? '';
  expect(late.ids).toEqual(events.slice(0, late.ids.length));
  expect(late.ids.length).toBeLessThan(events.length);
  // They who hear the end are told where they were; it need not have fitted any more.
  if (late.others.length > 0) expect(late.others.join()).toContain(`"after":"${last}"`);
  const resumed = await openStream(gateway.url, '/v1/events', { 'last-event-id': last });
  await vi.waitFor(() => expect(resumed.messages.map(({ id }) => id)).toEqual(events.slice(late.ids.length)));
}, 90_000);
