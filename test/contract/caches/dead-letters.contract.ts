import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { limits } from '../../../shared/kit/limits.ts';
import type { DeadLetter } from '../../../shared/ports/dead-letters.ts';
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
/** The newest letters, as plain data: bytes may come back as any kind of byte array. */
const plain = (letters: readonly DeadLetter[]) =>
  letters.map((each) => ({ ...each, bytes: Buffer.from(each.bytes).toString('hex') }));

export const deadLettersContract = (broker: () => CacheBroker): void => {
  test('lists the newest first, of all services, as they were put', async () => {
    const [one, other] = [await broker().host(), await broker().host()];
    const letters = ['router', 'session', 'delivery', 'a.b'].map((service) => letter({ service }));
    for (const each of letters) await one.deadLetters.put(each);
    await vi.waitFor(async () => expect(plain(await other.deadLetters.list(4))).toEqual(plain(letters.toReversed())));
    expect(await other.deadLetters.list(2)).toHaveLength(2);
    const count = await one.deadLetters.count();
    await one.deadLetters.put(letter());
    await vi.waitFor(async () => expect(await other.deadLetters.count()).toBe(count + 1));
  });

  test('I2: a repeat within two minutes is stored once; the same id of another service is another letter', async () => {
    const { deadLetters } = await broker().host();
    const before = letter();
    const first = letter();
    const others = letter({ id: first.id, service: 'session' });
    for (const each of [before, first, first, others, first]) await deadLetters.put(each);
    await vi.waitFor(async () => expect(plain(await deadLetters.list(3))).toEqual(plain([others, first, before])));
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
    const [stored] = await deadLetters.list(1);
    expect(Buffer.from(stored!.bytes)).toEqual(Buffer.from(odd.bytes));
    expect(odd.subject.startsWith(stored!.subject)).toBe(true);
  });

  test('a message of the largest size is kept whole', async () => {
    const { deadLetters } = await broker().host();
    const large = letter({ bytes: new Uint8Array(randomBytes(limits.commitBytes)), reason: '界'.repeat(5_000) });
    await deadLetters.put(large);
    await vi.waitFor(async () => expect((await deadLetters.list(1))[0]?.id).toBe(large.id));
    expect(Buffer.compare(Buffer.from((await deadLetters.list(1))[0]!.bytes), Buffer.from(large.bytes))).toBe(0);
  });
};
