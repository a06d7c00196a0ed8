import { expect, test } from 'vitest';
import { unsentText } from '../../../services/delivery/parts/custody-parts.ts';
import { createReport } from '../../../services/delivery/report.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { CustodyParts, Outbound } from '../../../shared/ports/custody-log.ts';
import { plan } from '../../../shared/runtime/outgoing/plan.ts';
import { undeliveredCodec } from '../../../shared/wire/undelivered.ts';
import { commitTo, keyOf, recorded } from '../../support/domain/commits.ts';

const key = keyOf('agent:main:main');
const target = { channel: 'irc', to: '#a' };
const outbound: Outbound = { id: '7.1', seq: 7, key, target, kind: 'assistant_message', text: 'one two three', turnId: 't' };
const parts = (done: number, more: Partial<CustodyParts> = {}): CustodyParts => ({
  cuts: [
    { end: 3, next: 4 },
    { end: 7, next: 8, fence: '```js' },
  ],
  digest: 'd',
  done: Array.from({ length: done }, () => null),
  ...more,
});

test.each<[string, CustodyParts | undefined, string]>([
  ['a message in one piece: all of it', undefined, 'one two three'],
  ['no part was sent: all of it', parts(0), 'one two three'],
  ['the first was sent: the rest', parts(1), 'two three'],
  ['a code fence that was cut is opened again', parts(2), '```js\nthree'],
  ['one was refused, the others were sent: that one', parts(3, { refused: [0] }), 'one'],
  ['one was refused, and not all were sent', parts(2, { refused: [0] }), 'one\n\n```js\nthree'],
])('what is sent again of %s', (_, custody, expected) => expect(unsentText(outbound.text, custody)).toBe(expected));

const opened = () => {
  const memory = openInMemory({ clock: systemClock });
  const ports = memory.portsFor('delivery');
  const sent: unknown[] = [];
  const publish: typeof ports.commands.publish = async (command) => {
    sent.push(command);
    return { duplicate: false } as Awaited<ReturnType<typeof ports.commands.publish>>;
  };
  const report = createReport({
    config: configSchema.parse({}),
    ports: { ...ports, commands: { ...ports.commands, publish } },
    secrets: ['a-long-secret-token'],
  });
  return { report, sent, letters: ports.deadLetters };
};

test('D12: it is kept with what was not sent, and its session is told once, without secrets (I12)', async () => {
  const { report, sent, letters } = opened();
  const state = { state: 'partial', attempt: 2, detail: 'no a-long-secret-token here', parts: parts(1) } as const;
  await report(outbound, state);
  await report(outbound, state);
  const [letter, ...more] = await letters.list(9);
  expect(more).toEqual([]);
  const { bytes = new Uint8Array() } = (await letters.get(letter?.seq ?? 0)) ?? {};
  expect(undeliveredCodec.decode(bytes)).toMatchObject({
    id: '7.1',
    text: 'two three',
    outcome: 'partial',
    parts: { sent: 1, of: 3 },
  });
  expect(sent).toHaveLength(2);
  const [first, second] = sent as { id: string; data: { detail: string } }[];
  expect(first?.id).toBe(second?.id);
  expect(first).toMatchObject({
    key,
    correlationId: 't',
    data: { outcome: 'partial', parts: { sent: 1, of: 3 }, deliverTo: target },
  });
  expect(first?.data.detail).not.toContain('a-long-secret-token');
});

test('C9: a session that was erased is told nothing', async () => {
  const { report, sent, letters } = opened();
  await report({ ...outbound, text: '', suppressedReason: 'its session was erased' }, { state: 'failed', attempt: 1 });
  expect(sent).toEqual([]);
  expect(await letters.count('delivery')).toBe(1);
});

test('D12: a repeat is a message of its own, by the send policy of its session; a report is none', () => {
  const repeated = {
    ...({ type: 'delivery_repeated', v: 1, outboundId: '7.1', kind: 'assistant_message', deliverTo: target } as const),
    ...{ text: 'two three', turnId: 't', by: 'boss' },
  };
  const reported = { type: 'delivery_reported', v: 1, outboundId: '7.1', kind: 'assistant_message', deliverTo: target } as const;
  const events: SessionEvent[] = [
    { ...reported, outcome: 'unknown', detail: 'x' },
    repeated,
    { ...repeated, sendPolicy: 'deny' },
  ];
  expect(plan(recorded(commitTo(key, { events }), 9, 9), configSchema.parse({}).session.sendPolicy)).toEqual([
    { id: '9.1', seq: 9, key, target, kind: 'assistant_message', text: 'two three', turnId: 't' },
    expect.objectContaining({ id: '9.2', suppressedReason: expect.stringMatching(/^denied by/) }),
  ]);
});
