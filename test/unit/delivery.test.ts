import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../services/delivery/backoff.ts';
import { markAfter, nextMark } from '../../services/delivery/custody.ts';
import { createOutbox } from '../../services/delivery/outbox.ts';
import { terminalOutlet } from '../../services/delivery/outlets/terminal.ts';
import { signatureOf } from '../../services/delivery/outlets/webhook.ts';
import { outboundHeadlines, plan } from '../../services/delivery/plan.ts';
import { configSchema } from '../../shared/config/schema.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { CustodyRecord, CustodyState, Outbound, SendResult } from '../../shared/ports.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import { headlineOf, type SessionEvent } from '../../shared/session/events.ts';
import type { RecordedCommit } from '../../shared/wire/envelope.ts';
import { holds, type Intent, intents, play } from '../support/arbitraries.ts';
import { tell } from '../support/given.ts';

const key = 'agent:main:main' as SessionKey;
const target = { channel: 'irc', to: '#ubuntu' };
const turn = { id: 't1', attempt: 1 };
const said = (text: string, deliverTo?: typeof target): SessionEvent => ({
  type: 'assistant_message',
  v: 1,
  turn,
  messageId: 'm',
  text,
  ...(deliverTo && { deliverTo }),
});
const failed: SessionEvent = {
  type: 'turn_failed',
  v: 1,
  turn,
  code: 'model_error',
  message: 'no tokens left',
  deliverTo: target,
};
const completed: SessionEvent = { type: 'turn_completed', v: 1, turn };
const commit = (...events: SessionEvent[]): RecordedCommit => ({
  v: 1,
  id: 'c',
  key,
  rev: 1,
  sessionId: 's',
  epoch: 0,
  at: 1,
  correlationId: 'r',
  causationId: 'r',
  actor: 'host',
  command: { id: 'c', seq: 1, incarnation: 1 },
  events,
  seq: 7,
  recordedAt: 2,
});
const outbound = (id: string, withheld?: string): Outbound => ({
  id,
  seq: Number(id.split('.')[0]),
  key,
  target,
  kind: 'assistant_message',
  text: 'hi',
  turnId: 't1',
  ...(withheld !== undefined && { withheld }),
});
const told: SessionEvent = { type: 'notice', v: 1, notice: { code: 'send_policy', text: 'Sending is on.', deliverTo: target } };
const policy = (sendPolicy: object = {}) => configSchema.parse({ session: { sendPolicy } }).session.sendPolicy;
const denyIrc = policy({ rules: [{ action: 'deny', match: { channel: 'irc' } }] });

describe('plan: what a commit sends', () => {
  it.each<[string, SessionEvent[], unknown[]]>([
    ['nothing without a target', [said('hi'), completed], []],
    [
      'a reply, by the index of its event',
      [completed, said('hi', target)],
      [{ id: '7.1', kind: 'assistant_message', text: 'hi' }],
    ],
    ['a notice of a failed turn', [failed], [{ id: '7.0', kind: 'notice', text: expect.stringContaining('no tokens left') }]],
    ['both, in order', [said('a', target), failed, said('b', target)], [{ id: '7.0' }, { id: '7.1' }, { id: '7.2', text: 'b' }]],
    ['text without a silence marker (A6/79)', [said('Sure. <NO_REPLY>', target)], [{ text: 'Sure.' }]],
    ['silence, withheld (A6/78)', [said(' <NO_REPLY> ', target)], [{ text: '', withheld: 'there is nothing to say' }]],
    ['an empty reply, withheld', [said(' \n', target)], [{ text: '', withheld: 'there is nothing to say' }]],
    ['a notice, as part of the run', [told], [{ id: '7.0', kind: 'notice', text: 'Sending is on.', turnId: 'r', target }]],
    ['no notice without a target', [{ ...told, notice: { code: 'status', text: 'fine' } } as SessionEvent], []],
  ])('%s', (_, events, expected) => expect(plan(commit(...events), policy())).toMatchObject(expected));

  const byRule = 'denied by session.sendPolicy.rules[0]';
  const under = (event: SessionEvent, sendPolicy: 'allow' | 'deny'): SessionEvent => ({ ...event, sendPolicy }) as SessionEvent;
  it.each<[string, SessionEvent, ReturnType<typeof policy>, string | undefined]>([
    ['A9/98: a rule withholds a reply', said('hi', target), denyIrc, byRule],
    ['A9/98: and the notice of a failed turn', failed, denyIrc, byRule],
    ['A9/98: and the answer to a command', told, denyIrc, byRule],
    ['A9/98: the default withholds', said('hi', target), policy({ default: 'deny' }), 'denied by session.sendPolicy.default'],
    ['A9/96: the session itself withholds', under(said('hi', target), 'deny'), policy(), 'denied by override'],
    ['A9/96: also that a turn has failed', under(failed, 'deny'), policy(), 'denied by override'],
    ['A9/96: the session allows what a rule denies', under(said('hi', target), 'allow'), denyIrc, undefined],
    ['A9/94: the answer to /send off and /send on comes in any case', under(told, 'deny'), policy(), undefined],
  ])('%s', (_, event, sendPolicy, withheld) => expect(plan(commit(event), sendPolicy)[0]?.withheld).toBe(withheld));

  const carriers = new Set<string>(['assistant_message', 'turn_failed', 'notice']);
  /** Every commit that may have an outbound is filed under a headline that is followed. */
  const allFollowed = (followed: readonly string[]) => (wishes: readonly Intent[]) => {
    for (const { events } of play(wishes).commits) {
      if (events.some(({ type }) => carriers.has(type))) expect(followed).toContain(headlineOf(events));
    }
  };
  it('whatever is asked of a session, no commit with an outbound is overlooked', () => {
    const without = (gone: string) => allFollowed(outboundHeadlines.filter((type) => type !== gone));
    const faults = { 'no notices': without('notice'), 'no replies': without('assistant_message') };
    holds(intents, allFollowed(outboundHeadlines), faults, 100);
    const { commits } = tell('post m1', 'post m2', 'stop-told', 'report', 'notice hi');
    for (const { events } of commits.slice(2)) expect(outboundHeadlines).toContain(headlineOf(events));
  });
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

  it.each<[string, CustodyRecord | null, Outbound, typeof knows | undefined, unknown]>([
    ['the first of a conversation is prepared', null, outbound('7.0'), knows, { state: 'prepared', attempt: 1 }],
    ['so is one behind a finished one', last('6.9', 'delivered'), outbound('7.0'), knows, { state: 'prepared', attempt: 1 }],
    ['sequences are numbers', last('9.10', 'delivered'), outbound('10.9'), knows, { state: 'prepared', attempt: 1 }],
    ['prepared is sent', last('7.0', 'prepared', 2), outbound('7.0'), knows, { state: 'sending', attempt: 2 }],
    ['one below the watermark is over', last('7.1', 'sending'), outbound('7.0'), knows, null],
    ['delivered is over', last('7.0', 'delivered'), outbound('7.0'), knows, null],
    ['unknown is over', last('7.0', 'unknown'), outbound('7.0'), knows, null],
    ['failed is over', last('7.0', 'failed'), outbound('7.0'), knows, null],
    ['suppressed is over', last('7.0', 'suppressed'), outbound('7.0', 'silence'), knows, null],
    ['what is withheld is suppressed', null, outbound('7.0', 'silence'), knows, { state: 'suppressed', detail: 'silence' }],
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
    const mark = nextMark(before, next, way);
    if (expected === null) expect(mark).toBeNull();
    else expect(mark).toMatchObject(expected as object);
  });

  it.each<[SendResult, typeof knows, unknown]>([
    [{ kind: 'sent' }, forgets, { state: 'delivered', attempt: 2 }],
    [{ kind: 'failed', detail: 'HTTP 404' }, knows, { state: 'failed', attempt: 2, detail: 'HTTP 404' }],
    [{ kind: 'retry', afterMs: 0, detail: 'HTTP 429' }, forgets, { state: 'prepared', attempt: 3, detail: 'HTTP 429' }],
    [{ kind: 'unknown', detail: 'reset' }, knows, { state: 'prepared', attempt: 3 }],
    [{ kind: 'unknown', detail: 'reset' }, forgets, { state: 'unknown', attempt: 2 }],
  ])('after %j', (result, way, expected) => expect(markAfter(result, 2, way)).toMatchObject(expected as object));
});

describe('the outbox', () => {
  const opened = () => {
    const waiting = new Map<string, (isFinal: boolean) => void>();
    const held = new AbortController();
    const carry = ({ id }: Outbound) => new Promise<boolean>((resolve) => waiting.set(id, resolve));
    const finish = async (id: string, isFinal = true) => {
      waiting.get(id)?.(isFinal);
      waiting.delete(id);
      await new Promise(setImmediate);
    };
    return { outbox: createOutbox({ after: 3, held: held.signal, carry }), waiting, finish, held };
  };
  const to = (id: string, name: string): Outbound => ({ ...outbound(id), target: { channel: 'irc', to: name } });

  it('moves its position only past commits whose outbounds are all final', async () => {
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

  it('stands still behind an outbound that was left before its end', async () => {
    const { outbox, finish } = opened();
    await outbox.accept(5, [to('5.0', 'a')]);
    await finish('5.0', false);
    await outbox.settled();
    expect(outbox.position()).toBe(4);
  });

  it('serves one conversation in order and the others beside it', async () => {
    const { outbox, waiting, finish } = opened();
    await outbox.accept(5, [to('5.0', 'a'), to('5.1', 'a'), to('5.2', 'b')]);
    expect([...waiting.keys()]).toEqual(['5.0', '5.2']);
    await finish('5.0');
    expect([...waiting.keys()]).toEqual(['5.2', '5.1']);
  });

  it('takes no more than its window, and goes on when there is room (I11)', async () => {
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
  it('backoff grows, is capped, has chance in it and honours what was asked for within reason', () => {
    expect([1, 2, 3].map((attempt) => backoffMs(attempt, 1))).toEqual([1_000, 2_000, 4_000]);
    expect(backoffMs(1, 0)).toBe(500);
    expect(backoffMs(1_000, 1)).toBe(limits.deliveryBackoffMs);
    expect(backoffMs(1, 0, 7_000)).toBe(7_000);
    expect(backoffMs(1, 0, 86_400_000)).toBe(limits.deliveryRetryAfterMs);
  });

  it('the signature is the one that docs/webhooks.md promises', () => {
    expect(signatureOf('secret', '1700000000', '7.0', '{}')).toBe(
      'v1=6a5811f6c94702bdb56a917d44195ce4e4d28ffe3bd481eedec5cd2c89b30908',
    );
  });

  it('a reply cannot steer the terminal', async () => {
    const written: string[] = [];
    const stream = { write: (text: string, done: () => void) => written.push(text) && done() };
    const outlet = terminalOutlet(stream as unknown as NodeJS.WritableStream);
    await outlet.send({ ...outbound('7.0'), text: 'a\u001b[2J\n\tb\u009b' }, new AbortController().signal);
    await outlet.send({ ...outbound('7.1'), kind: 'notice' }, new AbortController().signal);
    expect(written).toEqual(['a[2J\n\tb\n', '! hi\n']);
  });
});
