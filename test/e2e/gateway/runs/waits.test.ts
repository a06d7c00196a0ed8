import { expect, test } from 'vitest';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { type Call, pathOf, startWorld } from '../setup.ts';

const key = 'agent:main:main';
/** No other sleep of a gateway is as long as this, or ten times as long or as short. */
const waitMs = 7_000;
const factors = [0.001, 0.1, 1, 10, 1_000];

/** The system's clock, on which the waits of callers are noted and over at once. */
const notingClock = (waits: number[]): Clock => ({
  ...systemClock,
  sleep: async (ms, signal) => {
    if (!factors.some((factor) => ms === factor * waitMs)) return systemClock.sleep(ms, signal);
    waits.push(ms);
  },
});

const rpc = (method: string, params: object) => (call: Call) => call('POST', '/v1/rpc', { body: { method, params } });
const text = 'a question';

const waitings: readonly [what: string, ask: (call: Call, runId: string) => Promise<{ readonly body: any }>][] = [
  ['a message', (call) => call('POST', pathOf(key, '/messages?wait=7'), { body: { text } })],
  ['a run', (call, runId) => call('GET', pathOf(key, `/runs/${runId}?wait=7`))],
  [
    'agent.wait, which counts milliseconds',
    (call, runId) => rpc('agent.wait', { sessionKey: key, runId, timeoutMs: 7_000 })(call),
  ],
  ['agent', rpc('agent', { sessionKey: key, message: text, timeoutSeconds: 7 })],
  ['sessions.compact', rpc('sessions.compact', { key, timeoutSeconds: 7 })],
  [
    'a chat completion',
    (call) => {
      const body = { model: 'natter', messages: [{ role: 'user', content: text }] };
      return call('POST', '/v1/chat/completions', { body, headers: { prefer: 'wait=7' } });
    },
  ],
  ['a compaction', (call) => call('POST', pathOf(key, '/compact?wait=7'), { body: {} })],
];

test.each(waitings)('A10/118, 120: %s waits just as long as it is told', async (_, ask) => {
  const waits: number[] = [];
  const { call, host } = await startWorld({ clock: notingClock(waits) });
  host.hold();
  const { body: posted } = await call('POST', pathOf(key, '/messages'), { body: { text: 'first' } });
  const answer = await ask(call, posted.runId);
  expect(JSON.stringify(answer.body)).toMatch(/timeout|running/);
  expect(new Set(waits)).toEqual(new Set([waitMs]));
  await host.release();
});
