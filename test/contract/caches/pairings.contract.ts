import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { admit, approve, revoke } from '../../../shared/domain/routing/pairing.ts';
import type { CacheBroker } from '../../support/caches.ts';

export const pairingsContract = (broker: () => CacheBroker): void => {
  /** A channel nobody else uses; names of channels may have any of these characters. */
  const channelNamed = () => `a-_${randomUUID().slice(0, 8)}`;
  const stranger = (senderId: string) => ({ senderId, code: senderId.toUpperCase(), inboundId: senderId });

  test('D8: what one process approves or revokes holds for the next message at every other', async () => {
    const [one, other, channel] = [await broker().host(), await broker().host(), channelNamed()];
    const asks = () => other.pairings.change(channel, (record) => admit(record, stranger('ann'), 1));
    expect(await asks()).toEqual({ kind: 'told', code: 'ANN' });
    await one.pairings.change(channel, (record) => approve(record, { code: 'ann', by: 'cli', now: 2 }));
    expect(await asks()).toEqual({ kind: 'paired' });
    await one.pairings.change(channel, (record) => revoke(record, 'ann'));
    expect(await asks()).toEqual({ kind: 'told', code: 'ANN' });
  });

  test('D8: of many strangers at many processes at once, no more get a code than may wait', async () => {
    const [hosts, channel] = [await Promise.all([1, 2, 3].map(() => broker().host())), channelNamed()];
    const admissions = await Promise.all(
      hosts.flatMap(({ pairings }, at) =>
        ['a', 'b'].map((name) => pairings.change(channel, (record) => admit(record, stranger(`${name}${at}`), 1))),
      ),
    );
    expect(admissions.filter(({ kind }) => kind === 'told')).toHaveLength(3);
  });

  test('D8: the list has every channel', async () => {
    const [{ pairings }, channels] = [await broker().host(), [channelNamed(), channelNamed()]];
    for (const channel of channels) await pairings.change(channel, (record) => admit(record, stranger('ann'), 1));
    await vi.waitFor(async () => {
      const found = (await pairings.all()).filter(({ channel }) => channels.includes(channel));
      expect(found.map(({ channel, requests }) => [channel, requests.length]).sort()).toEqual(
        channels.map((channel) => [channel, 1]).sort(),
      );
    });
  });
};
