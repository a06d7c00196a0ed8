import { beforeEach, expect, test } from 'vitest';
import { readOutputTool } from '../../../../services/session/tools/read-output.ts';
import { InMemoryEventLog } from '../../../../shared/adapters/in-memory/event-log.ts';
import { ended } from '../../../../shared/domain/session/decide/tools.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import type { EventLog } from '../../../../shared/ports/event-log.ts';
import { commitTo, keyOf } from '../../../support/domain/commits.ts';
import { calling, parsed, scope } from './calling.ts';

let log: InMemoryEventLog;
/** What was read of the log, by the number of commits. */
let reads: number[];
let call: ReturnType<typeof calling>;
let rev: number;

const counted = (events: EventLog): EventLog => ({
  ...events,
  read: async function* (key, options) {
    const index = reads.push(0) - 1;
    for await (const commit of events.read(key, options)) {
      reads[index] = (reads[index] ?? 0) + 1;
      yield commit;
    }
  },
});
const whole = Array.from({ length: 12_000 }, (_, line) => `line ${line} ä`).join('\n');
const record = async (callId: string, text: string, change: { key?: string; sessionId?: string } = {}) => {
  const key = keyOf(change.key ?? scope.key);
  const last = await log.last(key);
  const events = ended({ id: 't1', attempt: 1 }, { callId, tool: 'exec' }, 'ok', text);
  await log.append(commitTo(key, { rev: rev++, sessionId: change.sessionId ?? scope.sessionId, events }), last?.seq ?? 0);
};
beforeEach(() => {
  [log, reads, rev] = [new InMemoryEventLog({ clock: systemClock, semantics: 'R1' }), [], 1];
  call = calling([readOutputTool(counted(log))]);
});

test('the pages of a long output make it up, each within one page itself', async () => {
  await record('t1.1.0', whole);
  const count = Math.ceil(Buffer.byteLength(whole) / limits.toolPageBytes);
  let text = '';
  for (let page = 1; page <= count; page++) {
    const end = await call('read_output', { callId: 't1.1.0', page });
    expect(end.outcome).toBe('ok');
    expect(Buffer.byteLength(end.text)).toBeLessThanOrEqual(limits.toolPageBytes);
    text += end.text;
  }
  expect(text).toBe(whole);
  expect(await call('read_output', { callId: 't1.1.0', page: count + 1 })).toEqual({
    outcome: 'error',
    text: `page: there are ${count}; use 1 to ${count}`,
  });
});

test('the place of an output is found once', async () => {
  for (let index = 0; index < 20; index++) await record(`t0.1.${index}`, 'short');
  await record('t1.1.0', whole);
  for (const page of [1, 2, 3]) await call('read_output', { callId: 't1.1.0', page });
  expect(reads).toEqual([21, 1, 1]);
});

test.each([
  ['a short output', async () => record('t1.1.0', 'short')],
  ['another call', async () => record('t1.1.1', whole)],
  ['another session', async () => record('t1.1.0', whole, { key: 'agent:main:telegram:dm:7' })],
  ['the session before a reset', async () => record('t1.1.0', whole, { sessionId: 's0' })],
  ['nothing', async () => {}],
])('A5/67: %s has no pages for this session', async (_, prepare) => {
  await prepare();
  expect(await call('read_output', { callId: 't1.1.0', page: 1 })).toEqual({
    outcome: 'error',
    text: 'callId: no call "t1.1.0" of this session has a long output',
  });
});

test('A5/67: what one session has found is not found by another', async () => {
  await record('t1.1.0', whole);
  const tool = readOutputTool(log);
  const signal = new AbortController().signal;
  const given = { callId: 't9.1.0', arguments: { callId: 't1.1.0', page: 1 } };
  expect(await tool.run({ ...given, scope }, signal)).toMatchObject({ outcome: 'ok' });
  for (const other of [
    { ...scope, key: keyOf('agent:main:other') },
    { ...scope, sessionId: 's2' },
  ]) {
    expect(await tool.run({ ...given, scope: other }, signal)).toMatchObject({ outcome: 'error' });
  }
});

test.each([
  ['{}', /callId: .*; page: /],
  ['{"callId":"","page":1}', /callId: /],
  ['{"callId":"t1.1.0","page":0}', /page: /],
  ['{"callId":"t1.1.0","page":1e300}', /page: /],
  ['{"callId":"t1.1.0","page":1,"key":"agent:main:other"}', /"key" is not an argument/],
  ['{"callId":"__proto__","page":1}', /no call "__proto__"/],
])('%s names the field', async (json, error) => {
  expect(await call('read_output', parsed(json))).toEqual({ outcome: 'error', text: expect.stringMatching(error) });
});
