import { describe, expect, test } from 'vitest';
import { deliveryLimits } from '../../../services/delivery/delivery-limits.ts';
import { conversationOf } from '../../../services/delivery/delivery-log.ts';
import type { Delivered } from '../../../services/delivery/delivery-worker.ts';
import { createOutbox } from '../../../services/delivery/outbox.ts';
import { terminalOutlet } from '../../../services/delivery/outlets/terminal.ts';
import { signatureOf } from '../../../services/delivery/outlets/webhook-request.ts';
import { accountName } from '../../../services/delivery/parked-accounts.ts';
import { retryMs } from '../../../services/delivery/retry.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Outbound } from '../../../shared/ports/custody-log.ts';

const key = 'agent:main:main' as SessionKey;
const target = { channel: 'irc', to: '#ubuntu' };
const outbound = (id: string): Outbound => ({
  id,
  seq: Number(id.split('.')[0]),
  key,
  target,
  kind: 'assistant_message',
  text: 'hi',
  turnId: 't1',
});
describe('the outbox', () => {
  const opened = () => {
    const waiting = new Map<string, (outcome: Delivered) => void>();
    const held = new AbortController();
    const deliver = ({ id }: Outbound) => new Promise<Delivered>((resolve) => waiting.set(id, resolve));
    const finish = async (id: string, outcome: Delivered = 'final') => {
      const done = waiting.get(id);
      waiting.delete(id);
      done?.(outcome);
      await new Promise(setImmediate);
    };
    return { outbox: createOutbox({ after: 3, held: held.signal, clock: systemClock, deliver }), waiting, finish, held };
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
    await finish('5.0', 'left');
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

  test('keeps the place of what has to wait, and takes its conversation again from there when it is due (I11)', async () => {
    const { outbox, waiting, finish } = opened();
    const commits: [number, Outbound[]][] = [
      [5, [to('5.0', 'a'), to('5.1', 'b')]],
      [6, [to('6.0', 'a'), to('6.1', 'b')]],
    ];
    for (const [seq, outbounds] of commits) await outbox.accept(seq, outbounds);
    await finish('5.0', { scope: conversationOf(to('5.0', 'a').target), until: 100, detail: 'HTTP 503', attempts: 3 });
    expect(outbox.waits([])).toMatchObject([{ to: 'a', detail: 'HTTP 503', attempts: 3 }]);
    for (const id of ['5.1', '6.1']) await finish(id);
    await outbox.accept(7, [to('7.0', 'a')]);
    expect([outbox.inHand(), outbox.waiting(), outbox.position()]).toEqual([0, 1, 4]);

    expect(outbox.due(99)).toBeNull();
    const reading = outbox.due(100);
    expect(reading?.after).toBe(4);
    for (const [seq, outbounds] of commits) expect(await outbox.acceptAgain(seq, outbounds, reading!)).toBe(true);
    await outbox.accept(8, [to('8.0', 'a')]);
    expect(await outbox.acceptAgain(7, [to('7.0', 'a')], reading!)).toBe(true);
    expect(await outbox.acceptAgain(8, [to('8.0', 'a')], reading!)).toBe(false);
    await outbox.accept(9, [to('9.0', 'a')]);
    const order: string[] = [];
    for (let next = [...waiting.keys()][0]; next; next = [...waiting.keys()][0]) {
      order.push(next);
      await finish(next);
    }
    expect(order).toEqual(['5.0', '6.0', '7.0', '8.0', '9.0']);
    expect([outbox.waiting(), outbox.position()]).toEqual([0, 9]);
  });

  test('what has to wait again while it is taken again is left to the next reading', async () => {
    const { outbox, waiting, finish } = opened();
    const scope = conversationOf(to('5.0', 'a').target);
    await outbox.accept(5, [to('5.0', 'a')]);
    await finish('5.0', { scope, until: 10, detail: 'HTTP 503' });
    const reading = outbox.due(10)!;
    await outbox.acceptAgain(5, [to('5.0', 'a')], reading);
    await finish('5.0', { scope, until: 20, detail: 'HTTP 503' });
    expect(await outbox.acceptAgain(6, [to('6.0', 'a')], reading)).toBe(false);
    expect([waiting.size, outbox.position(), outbox.due(19), outbox.due(20)?.after]).toEqual([0, 4, null, 4]);
  });

  test('an account that waits holds its conversations, and no other', async () => {
    const { outbox, waiting, finish } = opened();
    await outbox.accept(5, [to('5.0', 'a'), to('5.1', 'b')]);
    await finish('5.1', { scope: accountName(to('5.1', 'b').target), until: 100, detail: 'HTTP 503' });
    await outbox.accept(6, [to('6.0', 'c'), { ...to('6.1', 'd'), target: { channel: 'irc', to: 'd', accountId: 'other' } }]);
    expect([...waiting.keys()]).toEqual(['5.0', '6.1']);
    await finish('5.0', { scope: accountName(to('5.0', 'a').target), until: 50, detail: 'HTTP 503' });
    expect(outbox.due(50)?.after).toBe(4);
  });

  test('one conversation takes no more than its share of the window', async () => {
    const { outbox, waiting, finish } = opened();
    const many = Array.from({ length: deliveryLimits.chain + 5 }, (_, index) => to(`${5 + index}.0`, 'a'));
    for (const one of many) await outbox.accept(one.seq, [one]);
    expect([outbox.inHand(), outbox.waiting()]).toEqual([deliveryLimits.chain, 1]);
    expect(outbox.due(1)).toBeNull();
    for (let at = 0; at < deliveryLimits.chain; at += 1) await finish([...waiting.keys()][0]!);
    expect([outbox.inHand(), outbox.due(1)?.after]).toEqual([0, deliveryLimits.chain + 4]);
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
  test('backoff grows, is capped and has chance in it', () => {
    expect([1, 2, 3].map((attempt) => retryMs(attempt, 1))).toEqual([1_000, 2_000, 4_000]);
    expect(retryMs(1, 0)).toBe(500);
    expect(retryMs(1_000, 1)).toBe(deliveryLimits.backoffMs);
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
