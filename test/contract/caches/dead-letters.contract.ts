import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { limits } from '../../../shared/kit/limits.ts';
import type { DeadLetter, DeadLetters } from '../../../shared/ports/dead-letters.ts';
import { deadBounds } from '../../../shared/wire/topology.ts';
import type { CacheBroker } from '../../support/caches.ts';

const letter = (change: Partial<DeadLetter> = {}): DeadLetter => ({
  ...{
    id: randomUUID(),
    service: 'router',
    reason: 'not an envelope',
    subject: 'natter.inbound.7.terminal.me',
    at: 1_700_000_000_123,
  },
  ...{ bytes: new Uint8Array(randomBytes(20)) },
  ...change,
});
/** As plain data: bytes may come back as any kind of byte array. */
const plain = (letters: readonly DeadLetter[]) =>
  letters.map((each) => ({ ...each, bytes: Buffer.from(each.bytes).toString('hex') }));
/** The newest letters as they were put: each found by what the list says of it. */
const newest = async (deadLetters: DeadLetters, limit: number): Promise<DeadLetter[]> => {
  const letters: DeadLetter[] = [];
  for (const { seq, size, ...facts } of await deadLetters.list(limit)) {
    const whole = await deadLetters.get(seq);
    expect({ seq: whole?.seq, size: whole?.bytes.byteLength }).toEqual({ seq, size });
    letters.push({ ...facts, bytes: whole?.bytes ?? new Uint8Array() });
  }
  return letters;
};

export const deadLettersContract = (broker: () => CacheBroker): void => {
  test('lists the newest first, of all services, as they were put', async () => {
    const [one, other] = [await broker().host(), await broker().host()];
    const letters = ['router', 'session', 'delivery', 'a.b'].map((service) => letter({ service }));
    for (const each of letters) await one.deadLetters.put(each);
    await vi.waitFor(async () => expect(plain(await newest(other.deadLetters, 4))).toEqual(plain(letters.toReversed())));
    expect(await other.deadLetters.list(2)).toHaveLength(2);
    const count = await one.deadLetters.count();
    await one.deadLetters.put(letter());
    await vi.waitFor(async () => expect(await other.deadLetters.count()).toBe(count + 1));
  });

  test('counts the letters of one service, whatever they are about', async () => {
    const { deadLetters } = await broker().host();
    const count = await deadLetters.count('counted');
    const others = await deadLetters.count('count');
    const subjects = ['tiny.inbound.7.telegram.x', 'tiny.inbound.7.telegram.x', 'tiny.inbound.7.irc.x', 'nowhere'];
    for (const subject of subjects) await deadLetters.put(letter({ service: 'counted', subject }));
    await vi.waitFor(async () => expect(await deadLetters.count('counted')).toBe(count + 4));
    expect(await deadLetters.count('count')).toBe(others);
  });

  test('pages from any place on, however many letters between were removed', async () => {
    const { deadLetters } = await broker().host();
    const letters = Array.from({ length: 12 }, () => letter());
    for (const each of letters) await deadLetters.put(each);
    await vi.waitFor(async () => expect((await deadLetters.list(1))[0]?.id).toBe(letters.at(-1)?.id));
    const listed = await deadLetters.list(12);
    for (const { seq } of listed.slice(1, 11)) expect(await deadLetters.remove(seq)).toBe(true);
    const idsOf = async (limit: number, before?: number) => (await deadLetters.list(limit, before)).map(({ id }) => id);
    await vi.waitFor(async () => expect(await idsOf(2)).toEqual([letters[11]?.id, letters[0]?.id]));
    expect(await idsOf(1, listed[0]?.seq)).toEqual([letters[0]?.id]);
    expect(await idsOf(1, listed[11]?.seq)).not.toContain(letters[0]?.id);
    expect(await idsOf(1, 1)).toEqual([]);
  });

  test('of two who remove a letter one has done it, and it is gone for both; what was never there is not', async () => {
    const [one, other] = [await broker().host(), await broker().host()];
    await one.deadLetters.put(letter());
    await vi.waitFor(async () => expect(await one.deadLetters.list(1)).toHaveLength(1));
    const [{ seq } = { seq: 0 }] = await one.deadLetters.list(1);
    const removed = await Promise.all([one.deadLetters.remove(seq), other.deadLetters.remove(seq)]);
    expect(removed.sort()).toEqual([false, true]);
    await vi.waitFor(async () => expect(await other.deadLetters.get(seq)).toBeNull());
    expect([await one.deadLetters.get(seq + 1_000), await one.deadLetters.remove(seq + 1_000)]).toEqual([null, false]);
  });

  test('I11: of one source the newest 500 letters are kept, as the documents say, and of another all', async () => {
    const { deadLetters } = await broker().boundedDeadLetters(deadBounds);
    const subjectOf = (channel: string) => ({ subject: `tiny.inbound.7.${channel}.x` });
    await deadLetters.put(letter(subjectOf('irc')));
    const first = letter(subjectOf('telegram'));
    await deadLetters.put(first);
    await Promise.all([...Array(499)].map(() => deadLetters.put(letter(subjectOf('telegram')))));
    await vi.waitFor(async () => expect(await deadLetters.count('router')).toBe(1 + 500));
    const hasFirst = async () => (await deadLetters.list(600)).some(({ id }) => id === first.id);
    expect(await hasFirst()).toBe(true);
    await deadLetters.put(letter(subjectOf('telegram')));
    await vi.waitFor(async () => expect([await deadLetters.count('router'), await hasFirst()]).toEqual([1 + 500, false]));
  });

  test('I11: a flood from one source displaces its own letters alone, and all together stay within their bytes', async () => {
    const few = { maxAgeMs: 600_000, maxBytes: 20_000, maxMessagesPerSubject: 3 };
    const { deadLetters } = await broker().boundedDeadLetters(few);
    const of = (channel: string) => letter({ subject: `tiny.inbound.7.${channel}.x` });
    const real = [of('irc'), letter({ service: 'session', subject: 'tiny.command.7.agent:main:main' })];
    const garbage = Array.from({ length: 20 }, () => of('telegram'));
    for (const each of [...real, ...garbage]) await deadLetters.put(each);
    const kept = [...real, ...garbage.slice(-3)].map(({ id }) => id).toReversed();
    await vi.waitFor(async () => expect((await deadLetters.list(50)).map(({ id }) => id)).toEqual(kept));
    const large = Array.from({ length: 9 }, (_, index) => ({ ...of(`other-${index}`), bytes: new Uint8Array(6_000) }));
    for (const each of large) await deadLetters.put(each);
    const fitting = large
      .slice(-3)
      .map(({ id }) => id)
      .toReversed();
    await vi.waitFor(async () => expect((await deadLetters.list(50)).map(({ id }) => id)).toEqual(fitting));
  });

  test('I2: a repeat within two minutes is stored once; the same id of another service is another letter', async () => {
    const { deadLetters } = await broker().host();
    const before = letter();
    const first = letter();
    const others = letter({ id: first.id, service: 'session' });
    for (const each of [before, first, first, others, first]) await deadLetters.put(each);
    await vi.waitFor(async () => expect(plain(await newest(deadLetters, 3))).toEqual(plain([others, first, before])));
  });

  test('any id, reason, subject and bytes find their place', async () => {
    const { deadLetters } = await broker().host();
    const odd = letter({
      id: 'a\r\nNats-Expected-Last-Sequence: 1 界',
      reason: '\ud800'.repeat(5_000),
      subject: 'x'.repeat(9_000),
    });
    await deadLetters.put(odd);
    await vi.waitFor(async () => expect((await deadLetters.list(1))[0]?.id).toBe(odd.id));
    const [stored] = await newest(deadLetters, 1);
    expect(Buffer.from(stored!.bytes)).toEqual(Buffer.from(odd.bytes));
    expect(odd.subject.startsWith(stored!.subject)).toBe(true);
  });

  test('a message of the largest size is kept whole', async () => {
    const { deadLetters } = await broker().host();
    const large = letter({ bytes: new Uint8Array(randomBytes(limits.commitBytes)), reason: '界'.repeat(5_000) });
    await deadLetters.put(large);
    await vi.waitFor(async () => expect((await deadLetters.list(1))[0]?.id).toBe(large.id));
    expect(Buffer.compare(Buffer.from((await newest(deadLetters, 1))[0]!.bytes), Buffer.from(large.bytes))).toBe(0);
  });
};
