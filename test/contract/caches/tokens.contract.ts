import { createHash, hash, randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createReadMarks } from '../../../shared/adapters/kv/read-marks.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { IssuedToken, TokensView } from '../../../shared/ports/access/tokens.ts';
import { decode } from '../../../shared/wire/codec.ts';
import { bucketKey } from '../../../shared/wire/subjects.ts';
import type { CacheBroker, CacheHost } from '../../support/caches.ts';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const tokenNamed = (id: string = randomUUID()): IssuedToken => ({
  ...{ v: 1, id, role: 'channel', namespace: 'irc', label: 'a bot', createdAt: 1, createdBy: 'token:api' },
  secrets: [{ sha256: digest(id) }],
});
const ticket = { actor: 'token:api', path: '/v1/events', expiresAt: 5, tokenSha256: 'a'.repeat(64) };

export const tokensContract = (broker: () => CacheBroker): void => {
  const watched = async ({ tokens }: CacheHost): Promise<TokensView> => {
    const view = await tokens.watch();
    onTestFinished(() => view.close());
    return view;
  };

  test('what one host adds and changes, all see within a second', async () => {
    const [one, other, token] = [await broker().host(), await broker().host(), tokenNamed()];
    const view = await watched(other);
    expect(await one.tokens.add(token)).toBe(true);
    await vi.waitFor(() => expect(view.get(token.id)).toEqual(token));
    const revoked = { ...token, revokedAt: 7 };
    expect(await one.tokens.change(token.id, (now) => ({ ...now, revokedAt: 7 }))).toEqual(revoked);
    await vi.waitFor(() => expect(view.get(token.id)).toEqual(revoked));
    expect([...view.all()]).toContainEqual(revoked);
    await one.tokens.remove(token.id);
    await vi.waitFor(() => expect(view.get(token.id)).toBeUndefined());
  });

  test('a view has what was there before it, and reads on when it is asked to', async () => {
    const [{ tokens }, first, second] = [await broker().host(), tokenNamed(), tokenNamed()];
    await tokens.add(first);
    const view = await watched(await broker().host());
    await vi.waitFor(() => expect(view.get(first.id)).toEqual(first));
    await tokens.add(second);
    await vi.waitFor(async () => {
      await view.refresh();
      expect(view.get(second.id)).toEqual(second);
    });
  });

  test('an id is given once', async () => {
    const [{ tokens }, token] = [await broker().host(), tokenNamed()];
    const other = { ...token, label: 'another' };
    expect([await tokens.add(token), await tokens.add(other)]).toEqual([true, false]);
    expect(await tokens.change(token.id, (now) => now)).toEqual(token);
    expect(await tokens.change(randomUUID(), (now) => now)).toBeNull();
  });

  test('of changes at once none is lost', async () => {
    const [one, other, token] = [await broker().host(), await broker().host(), tokenNamed()];
    await one.tokens.add(token);
    await Promise.all([
      one.tokens.change(token.id, (now) => ({ ...now, revokedAt: 7 })),
      other.tokens.change(token.id, (now) => ({ ...now, expiresAt: 9 })),
    ]);
    expect(await one.tokens.change(token.id, (now) => now)).toEqual({ ...token, revokedAt: 7, expiresAt: 9 });
  });

  test('a ticket is for one of all who use it at once, and once', async () => {
    const [one, other] = [await broker().host(), await broker().host()];
    for (let round = 0; round < 5; round++) {
      const name = digest(randomUUID());
      await one.tokens.keepTicket(name, ticket, 30_000);
      const taken = await Promise.all([one, other, one, other].map(({ tokens }) => tokens.takeTicket(name)));
      expect(taken.filter((each) => each !== null)).toEqual([ticket]);
      expect(await other.tokens.takeTicket(name)).toBeNull();
    }
  });

  test('a ticket goes away by itself', async () => {
    const [{ tokens }, name] = [await broker().host(), digest(randomUUID())];
    await tokens.keepTicket(name, ticket, 1_000);
    await vi.waitFor(async () => expect((await broker().buckets.tokens.read(bucketKey('ticket', name))).value).toBeNull());
    expect(await tokens.takeTicket(name)).toBeNull();
    expect(await tokens.takeTicket(digest('nothing'))).toBeNull();
  });

  test('what is no token lets nobody in', async () => {
    const [{ tokens }, id, name] = [await broker().host(), randomUUID(), digest(randomUUID())];
    await broker().buckets.tokens.put(bucketKey('token', id), Buffer.from('everything'));
    await broker().buckets.tokens.put(bucketKey('ticket', name), Buffer.from('everything'));
    expect((await watched(await broker().host())).get(id)).toBeUndefined();
    expect(await tokens.change(id, (now) => now)).toBeNull();
    expect(await tokens.takeTicket(name)).toBeNull();
  });
};

/** They are in the bucket of the tokens. */
export const readMarksContract = (broker: () => CacheBroker): void => {
  test('B24: a mark is of one person and one session, the last one stands, and every process sees it', async () => {
    const [here, there] = [await broker().host(), await broker().host()];
    const [ann, bob] = [`ann-${randomUUID()}`, `bob-${randomUUID()}`];
    const [one, other] = ['agent:main:one', `agent:main:${'long'.repeat(50)}`] as [SessionKey, SessionKey];
    const view = await there.readMarks.watch();
    try {
      await here.readMarks.put({ person: ann, key: one, seq: 7 });
      await here.readMarks.put({ person: ann, key: other, seq: 9 });
      await vi.waitFor(() => expect([view.seqOf(ann, one), view.seqOf(ann, other)]).toEqual([7, 9]), { timeout: 30_000 });
      expect([view.seqOf(bob, one), view.seqOf(bob, other)]).toEqual([0, 0]);
      await here.readMarks.put({ person: ann, key: one, seq: 0 });
      await view.refresh();
      await vi.waitFor(() => expect([view.seqOf(ann, one), view.seqOf(ann, other)]).toEqual([0, 9]), { timeout: 30_000 });
    } finally {
      await view.close();
    }
  });

  test('B24: of whom and of what a mark is, is nowhere in clear: stored is a number under a hash', async () => {
    const { tokens } = broker().buckets;
    const [ann, key] = [`ann-${randomUUID()}`, 'agent:main:one' as SessionKey];
    const before = await tokens.info();
    await (await broker().host()).readMarks.put({ person: ann, key, seq: 7 });
    const stored = await vi.waitFor(async () => {
      const { entries } = await tokens.changes('read', before.revision, 1);
      if (entries[0] === undefined) throw new Error('not there yet');
      return entries[0];
    });
    expect(decode(stored.value ?? new Uint8Array(), 16)).toBe(7);
    expect(stored.key).toBe(bucketKey('read', hash('sha256', JSON.stringify([ann, key]), 'base64url')));
  });

  test('B24: a mark goes away by itself, also from the copies of it', async () => {
    const { tokens } = broker().buckets;
    const marks = createReadMarks(tokens, systemClock, 3_000);
    const [ann, key] = [`ann-${randomUUID()}`, 'agent:main:one' as SessionKey];
    const view = await marks.watch();
    try {
      await marks.put({ person: ann, key, seq: 7 });
      await vi.waitFor(() => expect(view.seqOf(ann, key)).toBe(7), { timeout: 2_900 });
      await vi.waitFor(() => expect(view.seqOf(ann, key)).toBe(0), { timeout: 60_000 });
    } finally {
      await view.close();
    }
  });
};
