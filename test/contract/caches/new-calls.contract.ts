import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { CacheBroker } from '../../support/caches.ts';

export const newCallsContract = (broker: () => CacheBroker): void => {
  const callsOn = async () => {
    const hosts = [await broker().host(), await broker().host()] as const;
    const fingerprint = randomUUID().slice(0, 22);
    return hosts.map(
      ({ newCalls }) =>
        (attempt: number, fresh: string): Promise<string> =>
          newCalls.keyOf({ fingerprint, attempt }, fresh),
    ) as [(attempt: number, fresh: string) => Promise<string>, (attempt: number, fresh: string) => Promise<string>];
  };

  test('D9: a retry at another gateway has the key of the last first attempt', async () => {
    const [here, there] = await callsOn();
    expect(await here(0, 'a')).toBe('a');
    expect(await there(1, 'b')).toBe('a');
    expect(await there(0, 'c')).toBe('c');
    expect([await here(1, 'd'), await there(2, 'e')]).toEqual(['c', 'c']);
  });

  test('D9: a first attempt that its retry has overtaken is the same call', async () => {
    const [here, there] = await callsOn();
    expect(await there(1, 'a')).toBe('a');
    expect(await here(0, 'b')).toBe('a');
  });

  test('D9: of retries at once all have one key; first attempts at once have each their own', async () => {
    const [here, there] = await callsOn();
    const [one, other] = await Promise.all([here(1, 'a'), there(2, 'b')]);
    expect(one).toBe(other);
    const [mine, yours] = await callsOn();
    expect(await Promise.all([mine(0, 'a'), yours(0, 'b')])).toEqual(['a', 'b']);
  });
};
