import { createHash, randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import type { StoredAttachment } from '../../../shared/ports/objects/attachments.ts';
import type { CacheBroker, CacheHost } from '../../support/caches.ts';
import { freshKey } from '../../support/domain/commits.ts';

const sha256 = (content: Uint8Array | null): string | null => content && createHash('sha256').update(content).digest('hex');

/** All that is stored after a place. */
const allAfter = async ({ attachments }: CacheHost, place: number): Promise<readonly StoredAttachment[]> => {
  const found: StoredAttachment[] = [];
  for (let more = true, after = place; more; ) {
    const page = await attachments.after(after);
    found.push(...page.stored);
    ({ more } = page);
    after = page.stored.at(-1)?.place ?? after;
  }
  return found;
};

export const attachmentsContract = (broker: () => CacheBroker): void => {
  // With the last chunk full, with one byte in it, and with several reads of chunks.
  test.each([1, 262_144, 262_145, 5_000_000])('%s bytes are what they were, for every host', async (size) => {
    const [one, other, key] = [await broker().host(), await broker().host(), freshKey()];
    const content = randomBytes(size);
    const digest = await one.attachments.put(key, content);
    expect(digest).toBe(sha256(content));
    expect(sha256(await other.attachments.get(key, digest))).toBe(digest);
  });

  test('I2: what a session has already is not stored again, also not by two hosts at once', async () => {
    const [one, other, key] = [await broker().host(), await broker().host(), freshKey()];
    const content = randomBytes(600_000);
    await Promise.all([one, other, one, other].map(({ attachments }) => attachments.put(key, content)));
    const digest = await one.attachments.put(key, content);
    expect(await one.attachments.of(key)).toHaveLength(1);
    expect((await allAfter(one, 0)).filter((stored) => stored.key === key)).toHaveLength(1);
    expect(sha256(await other.attachments.get(key, digest))).toBe(digest);
  });

  test('I8: it belongs to its session alone; under another key, or another digest, there is none', async () => {
    const [{ attachments }, key, foreign] = [await broker().host(), freshKey(), freshKey()];
    const digest = await attachments.put(key, randomBytes(10));
    expect(await attachments.get(foreign, digest)).toBeNull();
    expect(await attachments.get(key, 'a'.repeat(64))).toBeNull();
    expect(await attachments.of(foreign)).toEqual([]);
  });

  test('C9: what is removed is gone, and that of others stays', async () => {
    const [one, other] = [await broker().host(), await broker().host()];
    const [key, foreign, content] = [freshKey(), freshKey(), randomBytes(300_000)];
    const digest = await one.attachments.put(key, content);
    const rest = await one.attachments.put(key, randomBytes(5));
    await one.attachments.put(foreign, content);
    const [stored] = (await other.attachments.of(key)).filter((each) => each.digest === digest);
    expect(stored && (await other.attachments.remove(stored))).toBe(true);
    expect(await one.attachments.get(key, digest)).toBeNull();
    expect((await one.attachments.of(key)).map((each) => each.digest)).toEqual([rest]);
    expect(sha256(await one.attachments.get(foreign, digest))).toBe(digest);
    // Once more changes nothing, and it can be stored anew.
    expect(stored && (await other.attachments.remove(stored))).toBe(true);
    await one.attachments.put(key, content);
    expect(stored && (await other.attachments.remove(stored))).toBe(false);
    expect(sha256(await other.attachments.get(key, digest))).toBe(digest);
  });

  test('they are listed in the order in which they were stored', async () => {
    const [host, key] = [await broker().host(), freshKey()];
    const before = (await allAfter(host, 0)).at(-1)?.place ?? 0;
    const digests: string[] = [];
    for (const size of [1, 2, 3]) digests.push(await host.attachments.put(key, randomBytes(size)));
    // A replica of a cluster may be a moment behind.
    const listed = await vi.waitFor(async () => {
      const found = await allAfter(host, before);
      expect(found).toHaveLength(digests.length);
      return found;
    });
    expect(listed.map((stored) => stored.digest)).toEqual(digests);
    expect((await allAfter(host, listed[0]?.place ?? 0)).map((stored) => stored.digest)).toEqual(digests.slice(1));
  });
};
