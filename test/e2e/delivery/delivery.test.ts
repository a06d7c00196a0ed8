import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import type { CustodyRecord } from '../../../shared/ports/custody-log.ts';
import type { Outlet } from '../../../shared/ports/outlet.ts';
import { seenAt } from '../../support/domain/commits.ts';
import { freeForAll, openRig, type Rig } from './rig.ts';

let rig: Rig;
const open = async (...options: Parameters<typeof openRig>) => {
  rig = await openRig(...options);
  return rig;
};
afterEach(() => rig.close());

const delivered = (id: string) => rig.until(() => expect(rig.states(id).at(-1)).toMatch(/^delivered/));
const textsTo = (to: string) => rig.farSide.received.filter((request) => request.to === to).map(({ text }) => text);
const finals = (id: string) => rig.states(id).filter((state) => !/^(prepared|sending)/.test(state));

describe('a reply goes to its webhook', () => {
  test('signed, and its custody reads prepared, sending, delivered', async () => {
    const { say, start, farSide, states } = await open();
    await start('one');
    const id = await say('Hello!');
    await delivered(id);
    expect(states(id)).toEqual(['prepared 1', 'sending 1', 'delivered 1']);
    const [request] = farSide.received;
    expect(JSON.parse(request!.raw)).toMatchObject({
      id,
      kind: 'assistant_message',
      text: 'Hello!',
      to: { channel: 'chat', to: 'ann' },
    });
    const { 'natter-timestamp': time, 'natter-delivery-id': named, 'idempotency-key': known } = request!.headers;
    expect([named, known]).toEqual([id, id]);
    const expected = createHmac('sha256', 'a secret').update(`${time}.${id}.${request!.raw}`).digest('hex');
    expect(request!.headers['natter-signature']).toBe(`v1=${expected}`);
  });

  test('I6, I9: nothing is sent before the custody log holds its intent', async () => {
    const { say, start, states, system } = await open();
    const { custody } = system.portsFor('one');
    const found: unknown[] = [];
    // A send that does not wait for its record overtakes it here.
    const append = async (record: CustodyRecord, expectedSeq: number): Promise<number | null> => {
      await new Promise(setImmediate);
      return custody.append(record, expectedSeq);
    };
    const outlet: Outlet = {
      channel: 'chat',
      unknownSend: { by: 'key' },
      send: async ({ id, target }) => {
        const last = await custody.last(target);
        found.push([last?.record?.outboundId === id, last?.record?.state, last?.record?.attempt]);
        return found.length === 1 ? { kind: 'refused', failure: 'transient', detail: 'busy' } : { kind: 'sent' };
      },
    };
    await start('one', { change: { custody: { ...custody, append } }, outlets: [outlet] });
    const id = await say('hi');
    await delivered(id);
    expect(states(id)).toEqual(['prepared 1', 'sending 1', 'prepared 2', 'sending 2', 'delivered 2']);
    expect(found).toEqual([
      [true, 'sending', 1],
      [true, 'sending', 2],
    ]);
  });

  test('in order per conversation', async () => {
    const { say, start, until } = await open((_, nth) => ({ status: nth === 1 ? 503 : 204 }));
    await start('one');
    for (let index = 0; index < 6; index++) await say(`${index}`, index % 2 === 0 ? 'ann' : 'bob');
    await until(() => expect(rig.records.filter(({ state }) => state === 'delivered')).toHaveLength(6));
    expect(textsTo('ann')).toEqual(['0', '0', '2', '2', '4', '4']);
    expect(textsTo('bob')).toEqual(['1', '1', '3', '3', '5', '5']);
  });

  test('not when the model had nothing to say (A6/78)', async () => {
    const { say, start, farSide, states } = await open();
    await start('one');
    const silent = await say('<NO_REPLY>');
    await delivered(await say('next'));
    expect(states(silent)).toEqual(['suppressed 0']);
    expect(farSide.received).toHaveLength(1);
  });
});

describe('trouble at the far side', () => {
  test('429 with Retry-After: not before it says', async () => {
    const at: number[] = [];
    const { say, start, states, clock } = await open((_, nth) => {
      at.push(clock.monotonic());
      return nth === 1 ? { status: 429, headers: { 'retry-after': '5' } } : { status: 200 };
    });
    await start('one', { webhook: { idempotent: false } });
    const id = await say('hi');
    await delivered(id);
    expect(states(id)).toEqual(['prepared 1', 'sending 1', 'prepared 2', 'sending 2', 'delivered 2']);
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(5_000);
  });

  test('500 after it was stored: the same id again, which the far side knows', async () => {
    const stored = new Set<string>();
    const { say, start, farSide } = await open(({ headers }) => {
      const known = stored.has(String(headers['idempotency-key']));
      stored.add(String(headers['idempotency-key']));
      return { status: known ? 200 : 500 };
    });
    await start('one');
    await delivered(await say('hi'));
    expect(farSide.received).toHaveLength(2);
    expect(stored.size).toBe(1);
  });

  test.each([
    [true, ['prepared 1', 'sending 1', 'prepared 2', 'sending 2', 'delivered 2']],
    [false, ['prepared 1', 'sending 1', 'unknown 1']],
  ])('no answer after it was stored, idempotent %s', async (idempotent, expected) => {
    const { say, start, states } = await open(({ text }, nth) => (text === 'hi' && nth === 1 ? 'hang' : { status: 204 }));
    await start('one', { webhook: { idempotent, timeoutMs: 1_000 } });
    const id = await say('hi');
    await delivered(await say('next'));
    expect(states(id)).toEqual(expected);
  });

  test('a message given up is failed and a dead letter, and the next one goes on', async () => {
    const { say, start, states, ports } = await open(({ text }) => ({
      status: { gone: 404, moved: 302, broken: 500 }[text] ?? 204,
    }));
    await start('one', { webhook: { attempts: 2 } });
    const ids = [await say('gone'), await say('moved'), await say('broken'), await say('astray', 'x', { channel: 'nowhere' })];
    await delivered(await say('next'));
    await rig.until(() => expect(ids.map((id) => finals(id))).toEqual([['failed 1'], ['failed 1'], ['unknown 2'], ['failed 0']]));
    expect(states(ids[2]!).filter((state) => state.startsWith('sending'))).toHaveLength(2);
    const letters = await ports.deadLetters.list(10);
    // Whether the third one arrived is not known: it waits for a person as the others do.
    expect(letters.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(letters.map(({ subject }) => subject.split('.')[2]).sort()).toEqual(['failed', 'failed', 'failed', 'unknown']);
    expect(letters.map(({ reason }) => reason).join()).toMatch(/no outlet for channel "nowhere"/);
  });

  test('a hung conversation holds up itself and the cursor, nothing else; stopping does not wait for it', async () => {
    let healed = false;
    const { say, start, ports, until } = await open(({ to }) => (to === 'bob' && !healed ? 'hang' : { status: 204 }));
    const service = await start('one', { webhook: { timeoutMs: 60_000 } });
    const hung = await say('hung', 'bob');
    const others = await Promise.all(Array.from({ length: 50 }, (_, index) => say(`${index}`, `other-${index}`)));
    for (const id of others) await delivered(id);
    await until(async () => expect(service.metrics()).toMatchObject({ in_hand: 1, position: Number(hung.split('.')[0]) - 1 }));
    expect((await ports.cursors.get('delivery')).seq).toBeLessThan(Number(hung.split('.')[0]));
    expect(finals(hung)).toEqual([]);

    await service.stop(2_000);
    healed = true;
    await start('two');
    await delivered(hung);
    expect(textsTo('other-7')).toHaveLength(1);
  });
});

describe('several at work', () => {
  test('one that died between the send and its record: the next one sends the same id again and skips the rest', async () => {
    const { say, start, farSide, states, system } = await open();
    let dead = false;
    const custody = system.portsFor('one').custody;
    const append = (record: CustodyRecord, expectedSeq: number): Promise<number | null> => {
      dead ||= record.state === 'delivered' && record.outboundId !== first;
      return dead ? new Promise(() => {}) : custody.append(record, expectedSeq);
    };
    const cursors = { get: async () => seenAt(0), put: async () => {}, all: async () => new Map() };
    await start('one', { change: { custody: { ...custody, append }, cursors, leases: freeForAll } });
    const first = await say('first');
    await delivered(first);
    const second = await say('second');
    await rig.until(() => expect(farSide.received).toHaveLength(2));

    await start('two');
    await delivered(second);
    expect(farSide.received.map(({ id }) => id)).toEqual([first, second, second]);
    expect(states(first)).toEqual(['prepared 1', 'sending 1', 'delivered 1']);
    expect(states(second)).toEqual(['prepared 1', 'sending 1', 'prepared 2', 'sending 2', 'delivered 2']);
  });

  test('an outlet that does not know ids is not asked twice after such a death', async () => {
    const { say, start, states, system } = await open();
    const sent: string[] = [];
    const outlet: Outlet = {
      channel: 'terminal',
      unknownSend: { by: 'neither' },
      send: async ({ text }) => ({ kind: 'sent', detail: `line ${sent.push(text)}` }),
    };
    const custody = system.portsFor('one').custody;
    const append = (record: CustodyRecord, expectedSeq: number): Promise<number | null> =>
      record.state === 'delivered' ? new Promise(() => {}) : custody.append(record, expectedSeq);
    await start('one', { change: { custody: { ...custody, append }, leases: freeForAll }, outlets: [outlet] });
    const id = await say('hi', 'tty', { channel: 'terminal' });
    await rig.until(() => expect(sent).toEqual(['hi']));
    await start('two', { outlets: [outlet] });
    await rig.until(() => expect(states(id)).toEqual(['prepared 1', 'sending 1', 'unknown 1']));
    expect(sent).toEqual(['hi']);
  });

  test('two without ownership: each outbound has one recorded outcome, in order per conversation (I9, F3)', async () => {
    const { say, start, records, until, farSide } = await open((_, nth) => ({ status: nth === 1 ? 503 : 204 }));
    const options = { change: { leases: freeForAll }, webhook: { attempts: 50 } };
    await Promise.all([start('one', options), start('two', options)]);
    const ids: string[] = [];
    for (let index = 0; index < 40; index++) ids.push(await say(`${index}`, `c${index % 8}`));
    await until(() => expect(ids.filter((id) => finals(id).length > 0)).toHaveLength(40));
    expect(ids.map((id) => finals(id).map((state) => state.split(' ')[0]))).toEqual(ids.map(() => ['delivered']));
    for (let conversation = 0; conversation < 8; conversation++) {
      const order = records.filter(({ target }) => target.to === `c${conversation}`).map(({ outboundSeq }) => outboundSeq);
      expect(order).toEqual([...order].sort((one, other) => one - other));
    }
    expect(new Set(records.map(({ by }) => by)).size).toBe(2);
    expect(new Set(farSide.received.map(({ id }) => id)).size).toBe(40);
  });

  test('with the lease one works and the other takes over', async () => {
    const { say, start, farSide } = await open();
    const services = [await start('one'), await start('two')];
    await delivered(await say('a'));
    const active = services.filter((service) => service.metrics().active === 1);
    expect(active).toHaveLength(1);
    await active[0]!.stop(2_000);
    await delivered(await say('b'));
    // A machine that stands still for 150 ms loses the lease in mid-send: the other one repeats it with the same id.
    const byId = new Map(farSide.received.map(({ id, text }) => [id, text]));
    expect([...byId.values()]).toEqual(['a', 'b']);
  });
});

describe('the cursor', () => {
  test('goes on where the last one stopped', async () => {
    const { say, start, ports, records } = await open();
    const service = await start('one');
    const id = await say('a');
    await delivered(id);
    await service.stop(2_000);
    expect(await ports.cursors.get('delivery')).toMatchObject({ seq: Number(id.split('.')[0]), digest: expect.any(String) });
    const before = records.length;
    await start('two');
    await delivered(await say('b'));
    expect(records.slice(before).some(({ outboundId }) => outboundId === id)).toBe(false);
  });

  test('one that is lost costs reads and not a single send', async () => {
    const { say, start, ports, farSide } = await open();
    const service = await start('one');
    for (const text of ['a', 'b', 'c']) await delivered(await say(text));
    await service.stop(2_000);
    await ports.cursors.put('delivery', seenAt(0));
    await start('two');
    await delivered(await say('d'));
    expect(farSide.received.map(({ text }) => text)).toEqual(['a', 'b', 'c', 'd']);
  });

  test.each([
    ['ends before it', { seq: 99 }, /ends at 1/],
    ['was recreated', { incarnation: 99 }, /recreated/],
    ['has another commit there', { digest: 'of-another' }, /exchanged/],
  ])('a log that %s stops delivery, loudly (I13)', async (_, seen, problem) => {
    const { say, start, ports, farSide, until } = await open();
    await ports.cursors.put('delivery', { ...seenAt(1), ...seen });
    await say('a');
    const service = await start('one');
    await until(() => expect(service.problems().join()).toMatch(problem));
    expect(farSide.received).toEqual([]);
  });
});
