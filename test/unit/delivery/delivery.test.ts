import { describe, expect, test } from 'vitest';
import { nextState, stateAfter } from '../../../services/delivery/delivery-state.ts';
import { createOutbox } from '../../../services/delivery/outbox.ts';
import { terminalOutlet } from '../../../services/delivery/outlets/terminal.ts';
import { signatureOf } from '../../../services/delivery/outlets/webhook.ts';
import { retryMs } from '../../../services/delivery/retry.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { CustodyRecord, CustodyState, Outbound } from '../../../shared/ports/custody-log.ts';
import type { SendResult } from '../../../shared/ports/outlet.ts';

const key = 'agent:main:main' as SessionKey;
const target = { channel: 'irc', to: '#ubuntu' };
const outbound = (id: string, suppressedReason?: string): Outbound => ({
  id,
  seq: Number(id.split('.')[0]),
  key,
  target,
  kind: 'assistant_message',
  text: 'hi',
  turnId: 't1',
  ...(suppressedReason !== undefined && { suppressedReason }),
});
describe('custody: the next record by the last one (I6, I9)', () => {
  const last = (outboundId: string, state: CustodyState, attempt = 1): CustodyRecord => ({
    v: 1,
    outboundId,
    outboundSeq: Number(outboundId.split('.')[0]),
    key,
    target,
    state,
    attempt,
    at: 1,
  });
  const knows = { idempotent: true, attempts: 3 };
  const forgets = { idempotent: false, attempts: 3 };

  test.each<[string, CustodyRecord | null, Outbound, typeof knows | undefined, unknown]>([
    ['the first of a conversation is prepared', null, outbound('7.0'), knows, { state: 'prepared', attempt: 1 }],
    ['so is one behind a finished one', last('6.9', 'delivered'), outbound('7.0'), knows, { state: 'prepared', attempt: 1 }],
    ['sequences are numbers', last('9.10', 'delivered'), outbound('10.9'), knows, { state: 'prepared', attempt: 1 }],
    ['prepared is sent', last('7.0', 'prepared', 2), outbound('7.0'), knows, { state: 'sending', attempt: 2 }],
    ['one below the watermark is over', last('7.1', 'sending'), outbound('7.0'), knows, null],
    ['delivered is over', last('7.0', 'delivered'), outbound('7.0'), knows, null],
    ['unknown is over', last('7.0', 'unknown'), outbound('7.0'), knows, null],
    ['failed is over', last('7.0', 'failed'), outbound('7.0'), knows, null],
    ['suppressed is over', last('7.0', 'suppressed'), outbound('7.0', 'silence'), knows, null],
    [
      'what has a reason not to be sent is suppressed',
      null,
      outbound('7.0', 'silence'),
      knows,
      { state: 'suppressed', detail: 'silence' },
    ],
    ['also where there is no outlet', null, outbound('7.0', 'silence'), undefined, { state: 'suppressed', detail: 'silence' }],
    [
      'A9/98: what was prepared under another policy is not sent',
      last('7.0', 'prepared', 3),
      outbound('7.0', 'denied by override'),
      knows,
      { state: 'suppressed', attempt: 3, detail: 'denied by override' },
    ],
    [
      'what may be out already is not called suppressed',
      last('7.0', 'sending'),
      outbound('7.0', 'x'),
      forgets,
      { state: 'unknown' },
    ],
    [
      'no outlet is a failure with a reason',
      null,
      outbound('7.0'),
      undefined,
      { state: 'failed', detail: 'no outlet for channel "irc"' },
    ],
    [
      'lost while sending: again, with the same id',
      last('7.0', 'sending'),
      outbound('7.0'),
      knows,
      { state: 'prepared', attempt: 2 },
    ],
    ['lost while sending, and nobody can tell: unknown', last('7.0', 'sending'), outbound('7.0'), forgets, { state: 'unknown' }],
    ['attempts are bounded', last('7.0', 'prepared', 4), outbound('7.0'), knows, { state: 'failed', attempt: 3 }],
  ])('%s', (_, before, next, way, expected) => {
    const state = nextState(before, next, way);
    if (expected === null) expect(state).toBeNull();
    else expect(state).toMatchObject(expected as object);
  });

  test.each<[SendResult, typeof knows, unknown]>([
    [{ kind: 'sent' }, forgets, { state: 'delivered', attempt: 2 }],
    [{ kind: 'failed', detail: 'HTTP 404' }, knows, { state: 'failed', attempt: 2, detail: 'HTTP 404' }],
    [{ kind: 'retry', afterMs: 0, detail: 'HTTP 429' }, forgets, { state: 'prepared', attempt: 3, detail: 'HTTP 429' }],
    [{ kind: 'unknown', detail: 'reset' }, knows, { state: 'prepared', attempt: 3 }],
    [{ kind: 'unknown', detail: 'reset' }, forgets, { state: 'unknown', attempt: 2 }],
  ])('after %j', (result, way, expected) => expect(stateAfter(result, 2, way)).toMatchObject(expected as object));
});

describe('the outbox', () => {
  const opened = () => {
    const waiting = new Map<string, (isFinal: boolean) => void>();
    const held = new AbortController();
    const deliver = ({ id }: Outbound) => new Promise<boolean>((resolve) => waiting.set(id, resolve));
    const finish = async (id: string, isFinal = true) => {
      waiting.get(id)?.(isFinal);
      waiting.delete(id);
      await new Promise(setImmediate);
    };
    return { outbox: createOutbox({ after: 3, held: held.signal, deliver }), waiting, finish, held };
  };
  const to = (id: string, name: string): Outbound => ({ ...outbound(id), target: { channel: 'irc', to: name } });

  test('moves its position only past commits whose outbounds are all final', async () => {
    const { outbox, finish } = opened();
    expect(outbox.position()).toBe(3);
    await outbox.accept(5, [to('5.0', 'a'), to('5.1', 'b')]);
    await outbox.accept(6, [to('6.0', 'c')]);
    await outbox.accept(8, []);
    await finish('6.0');
    await finish('5.1');
    expect(outbox.position()).toBe(4);
    await finish('5.0');
    expect(outbox.position()).toBe(8);
  });

  test('stands still behind an outbound that was left before its end', async () => {
    const { outbox, finish } = opened();
    await outbox.accept(5, [to('5.0', 'a')]);
    await finish('5.0', false);
    await outbox.settled();
    expect(outbox.position()).toBe(4);
  });

  test('serves one conversation in order and the others beside it', async () => {
    const { outbox, waiting, finish } = opened();
    await outbox.accept(5, [to('5.0', 'a'), to('5.1', 'a'), to('5.2', 'b')]);
    expect([...waiting.keys()]).toEqual(['5.0', '5.2']);
    await finish('5.0');
    expect([...waiting.keys()]).toEqual(['5.2', '5.1']);
  });

  test('takes no more than its window, and goes on when there is room (I11)', async () => {
    const { outbox, finish } = opened();
    const full = Array.from({ length: limits.deliveryWindow }, (_, index) => to(`5.${index}`, `c${index}`));
    await outbox.accept(5, full);
    let accepted = false;
    const more = outbox.accept(6, [to('6.0', 'x')]).then(() => {
      accepted = true;
    });
    await new Promise(setImmediate);
    expect(accepted).toBe(false);
    await finish('5.0');
    await more;
    expect(outbox.inHand()).toBe(limits.deliveryWindow);
  });
});

describe('small rules', () => {
  test('backoff grows, is capped, has chance in it and honours what was asked for within reason', () => {
    expect([1, 2, 3].map((attempt) => retryMs(attempt, 1))).toEqual([1_000, 2_000, 4_000]);
    expect(retryMs(1, 0)).toBe(500);
    expect(retryMs(1_000, 1)).toBe(limits.deliveryBackoffMs);
    expect(retryMs(1, 0, 7_000)).toBe(7_000);
    expect(retryMs(1, 0, 86_400_000)).toBe(limits.deliveryRetryAfterMs);
  });

  test('the signature is the one that docs/integrate/webhooks.md promises', () => {
    expect(signatureOf('secret', '1700000000', '7.0', '{}')).toBe(
      'v1=6a5811f6c94702bdb56a917d44195ce4e4d28ffe3bd481eedec5cd2c89b30908',
    );
  });

  test('a reply cannot steer the terminal', async () => {
    const written: string[] = [];
    const stream = { write: (text: string, done: () => void) => written.push(text) && done() };
    const outlet = terminalOutlet(stream as unknown as NodeJS.WritableStream);
    await outlet.send({ ...outbound('7.0'), text: 'a\u001b[2J\n\tb\u009b' }, new AbortController().signal);
    await outlet.send({ ...outbound('7.1'), kind: 'notice' }, new AbortController().signal);
    expect(written).toEqual(['a[2J\n\tb\n', '! hi\n']);
  });
});
