import pino from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { deliveryLimits } from '../../../services/delivery/delivery-limits.ts';
import { createDeliveryLog } from '../../../services/delivery/delivery-log.ts';
import { createDeliveryWorker } from '../../../services/delivery/delivery-worker.ts';
import { createErasures } from '../../../services/delivery/erasures.ts';
import { ParkedAccounts } from '../../../services/delivery/parked-accounts.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { type DeliveryTarget, sessionChannel } from '../../../shared/domain/values/types.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { CustodyLog, Outbound } from '../../../shared/ports/custody-log.ts';
import type { SendResult } from '../../../shared/ports/outlet.ts';
import { commitTo, freshKey } from '../../support/domain/commits.ts';

/** Sessions that are erased while a send of theirs is on its way. */

const key = freshKey();
const erased = {
  ...commitTo(key, {
    events: [
      {
        type: 'session_deleted',
        v: 1,
        mode: 'erased',
        sessionId: 's1',
        generation: 1,
        epoch: 1,
        turnIds: [],
        reason: 'asked for',
      },
    ],
  }),
  seq: 2,
  recordedAt: 0,
  digest: '',
};
const outbound = (target: DeliveryTarget, text: string, of = key): Outbound => ({
  ...{ id: '1.0', seq: 1, key: of, target, kind: 'assistant_message', text, turnId: 't' },
});

/** A delivery worker with one outlet, which hands what it gets to `send`. */
const opened = (channel: string, send: (outbound: Outbound) => Promise<SendResult>) => {
  const { custody } = openInMemory({ clock: systemClock }).portsFor('test');
  const erasures = createErasures();
  const open = new AbortController().signal;
  const common = { clock: systemClock, random: () => 0, held: open };
  const carryWith = (log: CustodyLog) =>
    createDeliveryWorker({
      ...common,
      outlets: [{ channel, unknownSend: { by: 'key' }, send }],
      deliveryLog: createDeliveryLog({ ...common, custody: log, member: 'test' }),
      log: pino({ level: 'silent' }),
      stopping: open,
      accounts: new ParkedAccounts(systemClock, pino({ level: 'silent' })),
      report: async () => {},
      recorded: () => {},
      revised: erasures.revised,
    });
  return { custody, erase: () => erasures.note(erased), carryWith };
};

describe('C9: an erased text is not sent', () => {
  test('to another session, which hears that the run has ended and nothing of what it said, when the send waited for its place', async () => {
    const [sent, release]: [string[], (() => void)[]] = [[], []];
    const { custody, erase, carryWith } = opened(sessionChannel, ({ text }) => {
      sent.push(text);
      return new Promise((resolve) => release.push(() => resolve({ kind: 'sent' })));
    });
    const carry = carryWith(custody);
    const to = (name: string): DeliveryTarget => ({ channel: sessionChannel, to: name });
    const others = Array.from({ length: deliveryLimits.sends }, (_, at) => carry(outbound(to(`${at}`), 'hello', freshKey())));
    await vi.waitFor(() => expect(sent).toHaveLength(deliveryLimits.sends));
    const carried = carry(outbound(to('ours'), 'a secret'));
    await vi.waitFor(async () => expect((await custody.last(to('ours')))?.record?.state).toBe('prepared'));
    erase();
    release.shift()?.();
    await vi.waitFor(() => expect(sent).toHaveLength(deliveryLimits.sends + 1));
    for (const finish of release) finish();
    await Promise.all([...others, carried]);
    expect(sent.at(-1)).toBe('');
    expect((await custody.last(to('ours')))?.record).toMatchObject({ state: 'delivered' });
  });

  test('to a channel, when the erasure came while the intent was being recorded', async () => {
    const sent: string[] = [];
    const { custody, erase, carryWith } = opened('irc', async ({ text }) => {
      sent.push(text);
      return { kind: 'sent' };
    });
    const carry = carryWith({
      ...custody,
      append: async (record, expectedSeq) => {
        const seq = await custody.append(record, expectedSeq);
        if (record.state === 'sending') erase();
        return seq;
      },
    });
    await carry(outbound({ channel: 'irc', to: 'us' }, 'a secret'));
    expect(sent).not.toContain('a secret');
  });
});
