import { describe, expect, test } from 'vitest';
import { deliveryLimits } from '../../../services/delivery/delivery-limits.ts';
import {
  afterFind,
  afterSend,
  type DeliveryState,
  nextStep,
  type OutletTraits,
} from '../../../services/delivery/delivery-state.ts';
import { outboundPart } from '../../../services/delivery/parts/custody-parts.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { CustodyRecord, CustodyState, Outbound } from '../../../shared/ports/custody-log.ts';
import type { FailureClass, SendResult } from '../../../shared/ports/outlet.ts';

const key = 'agent:main:main' as SessionKey;
const target = { channel: 'irc', to: '#ubuntu' };
const outbound = (id: string, suppressedReason?: string): Outbound => ({
  ...{ id, seq: Number(id.split('.')[0]), key, target, kind: 'assistant_message', text: 'hi', turnId: 't1' },
  ...(suppressedReason !== undefined && { suppressedReason }),
});
const long: Outbound = { ...outbound('7.0'), text: 'One **two**.\n\nThree.\n\nFour.' };
const limit = { maximumLength: 12 };

const recorded = (id: string, state: DeliveryState): CustodyRecord => ({
  ...{ v: state.parts ? 2 : 1, outboundId: id, outboundSeq: Number(id.split('.')[0]), key, target, at: 1_000 },
  ...state,
});
const last = (id: string, state: CustodyState, attempt = 1, more: Partial<DeliveryState> = {}): CustodyRecord =>
  recorded(id, { state, attempt, ...more });
const knows: OutletTraits = { unknownSend: { by: 'key' }, attempts: 3 };
const forgets: OutletTraits = { unknownSend: { by: 'neither' }, attempts: 3 };
const answers: OutletTraits = { unknownSend: { by: 'ask', settlesMs: 500 }, attempts: 3 };
const briefly: OutletTraits = { unknownSend: { by: 'key', forMs: 500 }, attempts: 3 };
const now = 2_000;
const record = (state: object) => ({ kind: 'record', state });
const refused = (failure: FailureClass, afterMs?: number): SendResult => ({
  ...{ kind: 'refused', failure, detail: 'no' },
  ...(afterMs !== undefined && { afterMs }),
});

describe('the next step by the last record (I6, I9)', () => {
  const again = { state: 'prepared', attempt: 2, uncertainSince: 1_000 };
  test.each<[string, CustodyRecord | null, Outbound, OutletTraits | undefined, unknown]>([
    ['the first of a conversation is prepared', null, outbound('7.0'), knows, record({ state: 'prepared', attempt: 1 })],
    ['so is one behind a finished one', last('6.9', 'delivered'), outbound('7.0'), knows, record({ state: 'prepared' })],
    ['sequences are numbers', last('9.10', 'delivered'), outbound('10.9'), knows, record({ state: 'prepared' })],
    ['prepared is sent', last('7.0', 'prepared', 2), outbound('7.0'), knows, { kind: 'send', state: { attempt: 2 } }],
    ['one below the watermark is over', last('7.1', 'sending'), outbound('7.0'), knows, null],
    ...(['delivered', 'partial', 'unknown', 'failed', 'suppressed'] as const).map(
      (state): [string, CustodyRecord, Outbound, OutletTraits, null] => [
        `${state} is over`,
        last('7.0', state),
        outbound('7.0', 'silence'),
        knows,
        null,
      ],
    ),
    ['what has a reason not to be sent is suppressed', null, outbound('7.0', 'silence'), knows, record({ state: 'suppressed' })],
    ['also where there is no outlet', null, outbound('7.0', 'silence'), undefined, record({ state: 'suppressed', attempt: 0 })],
    [
      'A9/98: what was prepared under another policy is not sent',
      last('7.0', 'prepared', 3),
      outbound('7.0', 'denied by override'),
      knows,
      record({ state: 'suppressed', attempt: 3, detail: 'denied by override' }),
    ],
    [
      'what may be out is not called suppressed',
      last('7.0', 'sending'),
      outbound('7.0', 'x'),
      forgets,
      record({ state: 'unknown' }),
    ],
    [
      'nor what may have been out before',
      last('7.0', 'prepared', 2, { uncertainSince: 1 }),
      outbound('7.0', 'x'),
      knows,
      record({ state: 'unknown', detail: 'x' }),
    ],
    [
      'no outlet is a failure with a reason',
      null,
      outbound('7.0'),
      undefined,
      record({ state: 'failed', detail: 'no outlet for channel "irc"' }),
    ],
    [
      'an outlet removed before the send: failed',
      last('7.0', 'prepared'),
      outbound('7.0'),
      undefined,
      record({ state: 'failed' }),
    ],
    ['an outlet removed after it: unknown', last('7.0', 'sending'), outbound('7.0'), undefined, record({ state: 'unknown' })],
    ['lost while sending, by key: again, with the same id', last('7.0', 'sending'), outbound('7.0'), knows, record(again)],
    ['lost while sending, by asking: asked', last('7.0', 'sending'), outbound('7.0'), answers, { kind: 'ask', around: 1_000 }],
    [
      'lost while sending, and nobody can tell: unknown',
      last('7.0', 'sending'),
      outbound('7.0'),
      forgets,
      record({ state: 'unknown' }),
    ],
    ['attempts are bounded', last('7.0', 'prepared', 4), outbound('7.0'), knows, record({ state: 'failed', attempt: 3 })],
    [
      'attempts that do not count do not end it',
      last('7.0', 'prepared', 40, { uncounted: 37 }),
      outbound('7.0'),
      knows,
      { kind: 'send' },
    ],
    [
      'given up after it may have arrived: unknown',
      last('7.0', 'prepared', 4, { uncertainSince: 1 }),
      outbound('7.0'),
      knows,
      record({ state: 'unknown', attempt: 3 }),
    ],
    [
      'a key that is not remembered any more is not used',
      last('7.0', 'prepared', 2, { uncertainSince: 1_500 }),
      outbound('7.0'),
      briefly,
      record({ state: 'unknown' }),
    ],
    [
      'as long as it is, it is',
      last('7.0', 'prepared', 2, { uncertainSince: 1_501 }),
      outbound('7.0'),
      briefly,
      { kind: 'send', state: { uncertainSince: 1_501 } },
    ],
    [
      'D12: a wait that was asked for is waited',
      last('7.0', 'prepared', 2, { notBefore: 3_600_000, failure: 'rate_limit', detail: 'HTTP 429' }),
      outbound('7.0'),
      knows,
      { kind: 'wait', until: 3_600_000, detail: 'the receiver asked to wait (HTTP 429)', attempts: 1 },
    ],
    [
      'a wait after a failure says which',
      last('7.0', 'prepared', 2, { notBefore: 3_600_000, failure: 'transient', detail: 'fetch failed (ECONNREFUSED)' }),
      outbound('7.0'),
      knows,
      { kind: 'wait', until: 3_600_000, detail: 'fetch failed (ECONNREFUSED)' },
    ],
    ['and then it is sent', last('7.0', 'prepared', 2, { notBefore: now }), outbound('7.0'), knows, { kind: 'send' }],
  ])('%s', (_, before, next, outlet, expected) => {
    const step = nextStep(before, next, outlet, now);
    if (expected === null) expect(step).toBeNull();
    else expect(step).toMatchObject(expected as object);
  });
});

const stateAfter = (result: SendResult, sending: Partial<DeliveryState>, outlet: OutletTraits, of = outbound('7.0')) =>
  afterSend(result, { state: 'sending', attempt: 2, ...sending }, { outbound: of, outlet, at: 1_900, now, retryMs: 50 });

describe('the state after a send', () => {
  test.each<[SendResult, Partial<DeliveryState>, OutletTraits, object | null]>([
    [{ kind: 'sent', messageId: 'm9' }, {}, forgets, { state: 'delivered', attempt: 2, messageId: 'm9' }],
    [refused('transient'), {}, forgets, { state: 'prepared', attempt: 3, notBefore: 2_050 }],
    [refused('transient', 700), {}, forgets, { state: 'prepared', attempt: 3, notBefore: 2_700 }],
    [refused('rate_limit', 3_600_000), {}, forgets, { attempt: 3, uncounted: 1, notBefore: 3_602_000, failure: 'rate_limit' }],
    [refused('rate_limit', 1), { uncounted: 4 }, forgets, { attempt: 3, uncounted: 5, notBefore: 2_050 }],
    [refused('auth'), {}, forgets, { state: 'prepared', attempt: 3, uncounted: 1, failure: 'auth' }],
    [refused('permission'), {}, knows, { state: 'prepared', attempt: 3, uncounted: 1, failure: 'permission' }],
    [refused('not_found'), {}, knows, { state: 'failed', attempt: 2, detail: 'no', failure: 'not_found' }],
    [refused('gone'), { uncertainSince: 5 }, knows, { state: 'unknown', failure: 'gone' }],
    [refused('invalid'), {}, knows, { state: 'failed', attempt: 2, failure: 'invalid' }],
    [{ kind: 'unknown', detail: 'reset' }, {}, knows, { state: 'prepared', attempt: 3, uncertainSince: 1_900, notBefore: 2_050 }],
    [{ kind: 'unknown', detail: 'reset' }, { uncertainSince: 5 }, knows, { state: 'prepared', uncertainSince: 5 }],
    [{ kind: 'unknown', detail: 'reset' }, {}, forgets, { state: 'unknown', attempt: 2, detail: 'reset' }],
    [{ kind: 'unknown', detail: 'reset' }, {}, answers, null],
  ])('%j after %j', (result, sending, outlet, expected) => {
    const state = stateAfter(result, sending, outlet);
    if (expected === null) expect(state).toBeNull();
    else expect(state).toMatchObject(expected);
  });

  test('what was refused as Markdown is sent once as plain text, if that is another text', () => {
    const marked = { ...outbound('7.0'), text: 'so **bold**' };
    const plain = stateAfter(refused('invalid'), {}, knows, marked);
    expect(plain).toMatchObject({ state: 'prepared', form: 'plain', attempt: 3, uncounted: 1 });
    expect(outboundPart(marked, plain!)).toMatchObject({ id: '7.0', text: 'so bold', plain: true });
    expect(stateAfter(refused('invalid'), { form: 'plain' }, knows, marked)).toMatchObject({ state: 'failed' });
  });
});

test('what the platform says when it is asked', () => {
  const sending: DeliveryState = { state: 'sending', attempt: 2 };
  const until = 1_000 + deliveryLimits.askMs;
  const found = (result: Parameters<typeof afterFind>[0], at = now) =>
    afterFind(result, sending, { at: 1_000, now: at, settlesMs: 500 });
  expect(found({ kind: 'sent', messageId: 'm' })).toMatchObject({ state: 'delivered', messageId: 'm' });
  expect(found({ kind: 'not_sent' }, 1_499)).toBeNull();
  expect(found({ kind: 'not_sent' }, 1_500)).toMatchObject({ state: 'prepared', attempt: 3 });
  expect(found({ kind: 'unresolved', detail: '?' }, until - 1)).toBeNull();
  expect(found({ kind: 'unresolved', detail: '?' }, until)).toMatchObject({ state: 'unknown', detail: '?' });
});

describe('D12: a reply in parts', () => {
  const outlet = { ...forgets, limit };
  const step = (before: CustodyRecord | null, of = long, by: OutletTraits | undefined = outlet) => nextStep(before, of, by, now);
  const stateOf = (found: ReturnType<typeof step>): DeliveryState => {
    if (found === null || !('state' in found)) throw new Error(JSON.stringify(found));
    return found.state;
  };
  const prepared = stateOf(step(null));
  const parts = prepared.parts!;
  /** After as many parts as `done` has, the next one is `state`. */
  const at = (state: CustodyState, done: (string | null)[], more: Partial<DeliveryState> = {}): DeliveryState => ({
    ...{ state, attempt: 1, parts: { ...parts, done } },
    ...more,
  });
  const next = (result: SendResult, sending: DeliveryState, by = outlet) =>
    afterSend(result, sending, { outbound: long, outlet: by, at: 1_900, now, retryMs: 50 })!;

  test('is cut before its intent is recorded, and each part has its id', () => {
    expect(prepared).toMatchObject({
      state: 'prepared',
      attempt: 1,
      parts: {
        cuts: [
          { end: 12, next: 14 },
          { end: 20, next: 22 },
        ],
        done: [],
      },
    });
    const sent = [[], ['a'], ['a', 'b']].map((done) => outboundPart(long, at('sending', done)));
    expect(sent.map(({ id, text, part }) => [id, text, part])).toEqual([
      ['7.0.p1', 'One **two**.', { index: 1, count: 3 }],
      ['7.0.p2', 'Three.', { index: 2, count: 3 }],
      ['7.0.p3', 'Four.', { index: 3, count: 3 }],
    ]);
  });

  test('each sent part is recorded with the id of its message, and the last one ends it', () => {
    expect(next({ kind: 'sent', messageId: 'x' }, at('sending', []))).toEqual(at('prepared', ['x']));
    expect(next({ kind: 'sent' }, at('sending', ['x', 'y']))).toMatchObject({
      state: 'delivered',
      parts: { done: ['x', 'y', null] },
    });
  });

  test('after an unknown part nothing more is sent, unless the receiver knows the id', () => {
    const unknown: SendResult = { kind: 'unknown', detail: 'reset' };
    expect(next(unknown, at('sending', ['x']))).toMatchObject({ state: 'unknown', parts: { done: ['x'] } });
    expect(next(unknown, at('sending', ['x']), { ...knows, limit })).toMatchObject({
      state: 'prepared',
      parts: { done: ['x'] },
    });
  });

  test('a refused part is sent as plain text, then as a mark; the rest follows and the end is partial', () => {
    const plain = next(refused('invalid'), at('sending', []));
    expect(outboundPart(long, plain)).toMatchObject({ id: '7.0.p1', text: 'One two.', plain: true });
    const mark = next(refused('invalid'), { ...plain, state: 'sending' });
    expect(outboundPart(long, mark).text).toBe('[Part 1 of 3 could not be sent.]');
    const following = next({ kind: 'sent', messageId: 'm' }, { ...mark, state: 'sending' });
    expect(following).toMatchObject({ state: 'prepared', attempt: 1, parts: { done: ['m'], refused: [0] } });
    expect(following).not.toHaveProperty('form');
    const end = next({ kind: 'sent' }, at('sending', ['m', 'y'], { parts: { ...parts, done: ['m', 'y'], refused: [0] } }));
    expect(end).toMatchObject({ state: 'partial', detail: 'parts are missing: 1' });
    expect(next(refused('invalid'), { ...mark, state: 'sending' })).toMatchObject({ state: 'failed' });
    expect(next(refused('invalid'), at('sending', ['x'], { form: 'mark' }))).toMatchObject({ state: 'partial' });
  });

  test.each<[string, DeliveryState, string]>([
    ['the receiver is gone before the first part', next(refused('gone'), at('sending', [])), 'failed'],
    ['it is gone after the first part', next(refused('gone'), at('sending', ['x'])), 'partial'],
    ['attempts are over at the second part', stateOf(step(recorded('7.0', at('prepared', ['x'], { attempt: 4 })))), 'partial'],
    [
      'the outlet is removed after the first part',
      stateOf(nextStep(recorded('7.0', at('prepared', ['x'])), long, undefined, now)!),
      'partial',
    ],
    [
      'sending is denied after the first part',
      stateOf(step(recorded('7.0', at('prepared', ['x'])), { ...long, suppressedReason: 'no' })),
      'partial',
    ],
    [
      'sending is denied before it',
      stateOf(step(recorded('7.0', at('prepared', [])), { ...long, suppressedReason: 'no' })),
      'suppressed',
    ],
  ])('when %s', (_, state, expected) => expect(state.state).toBe(expected));

  test('a recovery with another limit goes on with the recorded cuts', () => {
    for (const other of [{ ...forgets, limit: { maximumLength: 20 } }, forgets])
      expect(step(recorded('7.0', at('prepared', ['x'])), long, other)).toEqual({ kind: 'send', state: at('sending', ['x']) });
  });

  test('a recovery with another text cuts anew before the first part, and ends after it', () => {
    const other = { ...long, text: 'Another text.\n\nThree.' };
    expect(step(recorded('7.0', at('prepared', [])), other)).toMatchObject(record({ state: 'prepared', parts: { done: [] } }));
    expect(stateOf(step(recorded('7.0', at('prepared', [])), other)).parts!.digest).not.toBe(parts.digest);
    expect(step(recorded('7.0', at('prepared', ['x'])), other)).toMatchObject(record({ state: 'partial' }));
    expect(step(recorded('7.0', at('sending', ['x'])), other, { ...knows, limit })).toMatchObject(record({ state: 'unknown' }));
  });

  test('what is longer than the most parts ends with a mark', () => {
    const endless = { ...outbound('7.0'), text: 'word '.repeat(1_000) };
    const first = stateOf(step(null, endless));
    expect(first.parts?.cuts).toHaveLength(limits.deliveryParts);
    const done = Array.from({ length: limits.deliveryParts - 1 }, () => null);
    const rest = afterSend(
      { kind: 'sent' },
      { ...first, state: 'sending', parts: { ...first.parts!, done } },
      {
        ...{ outbound: endless, outlet, at: 1, now, retryMs: 50 },
      },
    )!;
    expect(rest.form).toBe('mark');
    expect(outboundPart(endless, rest).text).toBe('[Part 101 of 101 could not be sent.]');
  });
});
