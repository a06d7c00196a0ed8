import { expect, test, vi } from 'vitest';
import type { DeliveryTarget } from '../../../shared/domain/values/types.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { CustodyRecord, CustodyState } from '../../../shared/ports/custody-log.ts';
import type { CacheBroker } from '../../support/caches.ts';
import { freshKey } from '../../support/domain/commits.ts';

const targetTo = (to: string, change: Partial<DeliveryTarget> = {}): DeliveryTarget => ({ channel: 'terminal', to, ...change });
const freshTarget = (): DeliveryTarget => targetTo(freshKey());
const record = (target: DeliveryTarget, state: CustodyState, change: Partial<CustodyRecord> = {}): CustodyRecord => ({
  ...{ v: 1, outboundId: '7.0', outboundSeq: 7, key: freshKey(), target, state, attempt: 1, at: 1_700_000_000_123 },
  ...change,
});

export const custodyLogContract = (broker: () => CacheBroker): void => {
  test('a conversation without custody has no last record', async () => {
    const { custody } = await broker().host();
    expect(await custody.last(freshTarget())).toBeNull();
  });

  test('I9: the last record of a conversation is its newest, whatever its state', async () => {
    const [one, other, target] = [await broker().host(), await broker().host(), freshTarget()];
    let seq = 0;
    for (const state of ['prepared', 'sending', 'unknown', 'sending', 'delivered', 'prepared', 'suppressed', 'failed'] as const) {
      const written = record(target, state, { detail: `because of ${state}` });
      const next = await one.custody.append(written, seq);
      expect(next).toBeGreaterThan(seq);
      seq = next ?? 0;
      expect(await other.custody.last(target)).toEqual({ record: written, seq });
    }
  });

  test('D12: what a record says of parts comes back as it was written', async () => {
    const [{ custody }, target] = [await broker().host(), freshTarget()];
    const cuts = [{ end: 3, next: 5, fence: '```ts' }];
    const written = record(target, 'partial', {
      ...{ v: 2, parts: { cuts, digest: 'd', done: ['m1', null], refused: [1] }, form: 'mark', failure: 'invalid' },
      ...{ uncounted: 2, notBefore: 1_700_000_003_600, uncertainSince: 1_700_000_000_000 },
    });
    await custody.append(written, 0);
    expect((await custody.last(target))?.record).toEqual(written);
  });

  test('I9: of two writers at once one writes', async () => {
    const [hosts, target] = [[await broker().host(), await broker().host()], freshTarget()];
    let seq = 0;
    for (let round = 1; round <= 20; round++) {
      const outcomes = await Promise.all(
        hosts.map(({ custody }, at) => custody.append(record(target, 'sending', { attempt: round, outboundId: `${at}.0` }), seq)),
      );
      const winners = outcomes.filter((outcome) => outcome !== null);
      expect(winners).toHaveLength(1);
      seq = winners[0]!;
      const last = await hosts[0]!.custody.last(target);
      expect(last?.seq).toBe(seq);
      expect(last?.record?.outboundId).toBe(`${outcomes.indexOf(seq)}.0`);
    }
  });

  test('the records of a conversation are read from a time on, the oldest first, and past the limit of one read', async () => {
    const [{ custody }, target] = [await broker().host(), freshTarget()];
    let seq = 0;
    const begun = Date.now();
    for (let attempt = 1; attempt <= limits.readCommits + 2; attempt++) {
      await custody.append(record(freshTarget(), 'delivered', { at: begun }), 0);
      seq = (await custody.append(record(target, 'sending', { attempt, at: begun }), seq)) ?? 0;
    }
    const attemptsAfter = async (time: number, of = target) => {
      const attempts: number[] = [];
      for await (const { attempt } of custody.read(of, time)) attempts.push(attempt);
      return attempts;
    };
    await vi.waitFor(async () => expect((await attemptsAfter(begun - 60_000)).at(-1)).toBe(limits.readCommits + 2));
    expect(await attemptsAfter(begun - 60_000)).toEqual(Array.from({ length: limits.readCommits + 2 }, (_, at) => at + 1));
    expect(await attemptsAfter(begun + 3_600_000)).toEqual([]);
    expect(await attemptsAfter(0, freshTarget())).toEqual([]);
  });

  test('the records of a state are read newest first, a page at a time, in all conversations', async () => {
    const { custody } = await broker().host();
    const written: number[] = [];
    for (let at = 0; at < 5; at++) {
      const target = freshTarget();
      const first = await custody.append(record(target, 'sending', { outboundId: `${at}.0` }), 0);
      written.unshift((await custody.append(record(target, 'suppressed', { outboundId: `${at}.0` }), first ?? 0)) ?? 0);
    }
    const page = (before?: number) => custody.newest('suppressed', { before, limit: 2 });
    await vi.waitFor(async () => expect((await page()).records.map(({ seq }) => seq)).toEqual(written.slice(0, 2)));
    const first = await page();
    expect(first.records.map(({ outboundId, state }) => [outboundId, state])).toEqual([
      ['4.0', 'suppressed'],
      ['3.0', 'suppressed'],
    ]);
    expect(first.next).toBe(written[1]);
    const second = await page(first.next ?? 0);
    expect(second.records.map(({ seq }) => seq)).toEqual(written.slice(2, 4));
    // The rest may be on several pages, some of them empty.
    const rest: number[] = [];
    for (let next = second.next; next !== null; ) {
      const { records, next: following } = await page(next);
      rest.push(...records.map(({ seq }) => seq));
      expect(following ?? 0).toBeLessThan(next);
      next = following;
    }
    expect(rest[0]).toBe(written[4]);
    expect(rest).toEqual([...rest].sort((one, other) => other - one));
  });

  test('where few records have a state they are found far back', async () => {
    const { custody } = await broker().host();
    const seq = await custody.append(record(freshTarget(), 'partial', { v: 2 }), 0);
    for (let at = 0; at < 400; at++) await custody.append(record(freshTarget(), 'sending'), 0);
    const newest = async () => (await custody.newest('partial', { limit: 1 })).records.map((found) => found.seq);
    await vi.waitFor(async () => expect(await newest()).toEqual([seq]));
  });

  test('a writer that is behind, or ahead, is told and changes nothing', async () => {
    const [{ custody }, target] = [await broker().host(), freshTarget()];
    const first = await custody.append(record(target, 'prepared'), 0);
    expect(await custody.append(record(target, 'sending', { attempt: 2 }), 0)).toBeNull();
    expect(await custody.append(record(target, 'sending', { attempt: 2 }), (first ?? 0) + 1)).toBeNull();
    expect((await custody.last(target))?.record?.state).toBe('prepared');
  });

  test('conversations that differ in account, thread or a letter are apart', async () => {
    const { custody } = await broker().host();
    const to = freshKey();
    const targets = [
      targetTo(to),
      targetTo(to, { accountId: 'a' }),
      targetTo(to, { threadId: 'a' }),
      targetTo(`a~${to}`),
      targetTo(to, { channel: 'webhook' }),
      targetTo(to.toUpperCase()),
      targetTo(`${to} .*>%\n`),
    ];
    for (const [at, target] of targets.entries())
      expect(await custody.append(record(target, 'prepared', { attempt: at + 1 }), 0)).not.toBeNull();
    const last = await Promise.all(targets.map((target) => custody.last(target)));
    expect(last.map((each) => each?.record?.attempt)).toEqual(targets.map((_, at) => at + 1));
  });

  test('the longest target there can be is no trouble', async () => {
    const { custody } = await broker().host();
    const salt = freshKey();
    const long = { accountId: '界'.repeat(128), threadId: '界'.repeat(128) };
    const targets = ['界', '外'].map((last) => targetTo(`${'界'.repeat(511 - salt.length)}${salt}${last}`, long));
    for (const target of targets) expect(await custody.append(record(target, 'prepared'), 0)).not.toBeNull();
    expect((await custody.last(targets[0]!))?.record?.target).toEqual(targets[0]);
  });
};
