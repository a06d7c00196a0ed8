import { describe, expect, test } from 'vitest';
import { createInMemoryCustodyLog } from '../../../shared/adapters/in-memory/custody-log.ts';
import type { Fault, Faults } from '../../../shared/adapters/in-memory/faults.ts';
import { InMemoryKeyValue } from '../../../shared/adapters/in-memory/kv-store.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { createSessionIndex } from '../../../shared/adapters/kv/session-index.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { CustodyRecord } from '../../../shared/ports/custody-log.ts';
import { openInMemoryCaches } from '../../support/caches.ts';
import { commitTo, freshKey, recorded, seenAt } from '../../support/domain/commits.ts';
import { cachesContract } from './caches.contract.ts';

cachesContract('caches in memory', openInMemoryCaches);
// A contract that takes for granted that any replica has a write at once would fail on a cluster only now and then; here always.
cachesContract('caches in memory whose replicas lag', () => openInMemoryCaches({ lagMs: 50 }));

/** The given faults for the first writes, and none after them. */
const failing = (...faults: Fault[]): Faults => ({
  next: (call) => ({ fault: (call === 'append' && faults.shift()) || 'none', delayMs: 0, lateMs: 5, behind: 0 }),
});
const custodyWith = (faults: Faults) =>
  createInMemoryCustodyLog(new InMemoryKeyValue({ clock: systemClock, faults, requestTimeoutMs: 10 }));
const record = (attempt = 1): CustodyRecord => ({
  ...{ v: 1, outboundId: '7.0', outboundSeq: 7, key: freshKey('agent:main'), target: { channel: 'terminal', to: 'me' } },
  ...{ state: 'sending', attempt, at: 1 },
});
const rowAt = (key = freshKey(), seq = 1) => summarize(null, recorded(commitTo(key), seq));

describe('writes with an ambiguous outcome', () => {
  test.each([['answer_lost'], ['request_lost'], ['landed_late'], ['request_lost', 'answer_lost']] as Fault[][])(
    'I9: a custody record is written exactly once after %s %s',
    async (...faults) => {
      const custody = custodyWith(failing(...faults));
      const written = record();
      const seq = await custody.append(written, 0);
      expect(seq).not.toBeNull();
      expect(await custody.last(written.target)).toEqual({ record: written, seq });
      expect(await custody.append(record(2), 0)).toBeNull();
    },
  );

  test('a write that never gets through is reported as unavailable', async () => {
    const lost = custodyWith(failing('request_lost', 'request_lost', 'request_lost'));
    await expect(lost.append(record(), 0)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(custodyWith(failing('unavailable')).append(record(), 0)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('an index whose bucket forgets its last writes', () => {
  const indexed = async () => {
    const bucket = new InMemoryKeyValue({ clock: systemClock });
    const index = createSessionIndex(bucket, systemClock);
    const [first, second] = [rowAt(freshKey(), 1), rowAt(freshKey(), 2)];
    await index.put([first], 1);
    const kept = (await bucket.info()).revision;
    await index.put([second], 2);
    return { bucket, index, kept, second };
  };

  test.each([1, 10])('rejects %s rows that do not continue it, and stands where its rows stand', async (count) => {
    const { bucket, index, kept, second } = await indexed();
    bucket.forget(kept);
    const rows = Array.from({ length: count }, () => rowAt(freshKey(), 3));
    await expect(index.put(rows, 3)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await index.position()).toBe(1);
    expect(await index.get(second.key)).toBeNull();
    await index.put([second], 3);
    expect(await index.position()).toBe(3);
  });

  test('rejects a row whose last write is gone, also if others have written more than was lost', async () => {
    const { bucket, index, kept, second } = await indexed();
    const lost = (await bucket.info()).revision - kept;
    bucket.forget(kept);
    for (let count = 0; count <= lost; count++) await bucket.put('other', new Uint8Array([count]));
    await expect(index.put([{ ...second, seq: 3 }], 3)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await index.position()).toBe(1);
  });

  test('never has a position whose rows are gone', async () => {
    const { bucket, index, second } = await indexed();
    const third = rowAt(freshKey(), 3);
    const put = bucket.put.bind(bucket);
    // The power fails between the last row and the position.
    bucket.put = async (key, value, options) => {
      if (key === 'position') bucket.forget((await bucket.info()).revision - 1);
      return put(key, value, options);
    };
    await expect(index.put([third], 3)).rejects.toMatchObject({ code: 'unavailable' });
    bucket.put = put;
    expect(await index.position()).toBe(2);
    expect(await index.get(second.key)).toEqual(second);
  });
});

describe('a system in memory', () => {
  test('is one broker to all its members', async () => {
    const system = openInMemory({ clock: systemClock });
    const [one, other] = [system.portsFor('one'), system.portsFor('other')];
    const commit = commitTo(freshKey());
    await one.events.append(commit, 0);
    expect((await other.events.last(commit.key))?.id).toBe(commit.id);
    await one.cursors.put('delivery', seenAt(4));
    expect(await other.cursors.get('delivery')).toEqual(seenAt(4));
    const waiting = one.answers.wait('c1', 1_000);
    other.answers.tell(one.answers.address, { commandId: 'c1', outcome: 'accepted' });
    expect(await waiting).toEqual({ commandId: 'c1', outcome: 'accepted' });
    await one.close();
  });
});
