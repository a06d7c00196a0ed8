import { describe, expect, test } from 'vitest';
import type { FencedMessage } from '../../../../shared/adapters/nats/client/direct-read.ts';
import { readBack } from '../../../../shared/adapters/nats/log/read-back.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { subjectsUnder } from '../../../../shared/wire/subjects.ts';

const subjects = subjectsUnder('natter');
const [key, other] = ['agent:main:irc:dm:ann', 'agent:main:irc:dm:bob'] as SessionKey[] as [SessionKey, SessionKey];

type Given = Partial<FencedMessage> & { readonly of?: SessionKey };
type Log = Readonly<Record<number, Given>>;

/** Reads of a log, and which they were. `ends`: how much the replica has that answers the first read, the second, and so on; then all of it. */
const readsOf = (log: Log, ends: number[] = []) => {
  const read: (number | readonly [number, number])[] = [];
  const seen = (): FencedMessage[] => {
    const end = ends.shift() ?? Number.POSITIVE_INFINITY;
    return Object.entries(log).flatMap(([at, { of = key, ...given }]) => {
      const message = { seq: Number(at), subject: subjects.event('user_message', of), time: 0, data: new Uint8Array(1) };
      return message.seq > end ? [] : [{ ...message, previous: 0, ...given }];
    });
  };
  const reads = {
    one: async (seq: number) => {
      read.push(seq);
      return seen().find((message) => message.seq === seq) ?? null;
    },
    forward: async function* (after: number, upTo: number) {
      if (after >= upTo) return;
      read.push([after, upTo]);
      const ours = seen().filter(({ subject }) => subject === subjects.event('user_message', key));
      yield* ours.filter(({ seq }) => seq > after && seq <= upTo);
    },
  };
  return { reads, read };
};
const seqsOf = async (reads: Parameters<typeof readBack>[0], range: { after: number; upTo: number }): Promise<number[]> => {
  const seqs: number[] = [];
  for await (const { seq } of readBack(reads, subjects, { key, ...range })) seqs.push(seq);
  return seqs;
};
const commits: Log = { 100: { previous: 0 }, 4000: { previous: 100 }, 9000: { previous: 4_000 } };
const withoutOne: Log = { 100: { previous: 0 }, 9000: { previous: 4_000 } };
const large = new Uint8Array(limits.readBytes / 2);

describe('the commits of a key among those of others', () => {
  test.each<[string, Log, { after: number; upTo: number }, number[], (number | [number, number])[]]>([
    ['all of them', commits, { after: 0, upTo: 9_000 }, [100, 4_000, 9_000], [9_000, 4_000, 100]],
    ['those after one', commits, { after: 100, upTo: 9_000 }, [4_000, 9_000], [9_000, 4_000]],
    ['those after a sequence between', commits, { after: 200, upTo: 9_000 }, [4_000, 9_000], [9_000, 4_000]],
    ['a short range is looked through', commits, { after: 8_800, upTo: 9_000 }, [9_000], [[8_800, 9_000]]],
    [
      'no more are asked for one by one than the range is worth',
      { ...commits, 8600: { previous: 4_000 }, 8700: { previous: 8_600 }, 9000: { previous: 8_700 } },
      { after: 8_400, upTo: 9_000 },
      [8_600, 8_700, 9_000],
      [9_000, 8_700, [8_400, 8_600]],
    ],
    ['no commit is at the end', commits, { after: 0, upTo: 9_001 }, [100, 4_000, 9_000], [9_001, [0, 9_001]]],
    ['one is gone', withoutOne, { after: 0, upTo: 9_000 }, [100, 9_000], [9_000, 4_000, [0, 4_000], [100, 9_000]]],
    [
      'a fence leads to the commit of another key',
      { ...commits, 4000: { of: other } },
      { after: 0, upTo: 9_000 },
      [100, 9_000],
      [9_000, 4_000, [0, 4_000], [100, 9_000]],
    ],
    [
      'one has no fence',
      { ...commits, 4000: { previous: null } },
      { after: 0, upTo: 9_000 },
      [100, 4_000, 9_000],
      [9_000, 4_000, [0, 4_000]],
    ],
    [
      'no more bytes are kept than a read has',
      { ...commits, 4000: { previous: 100, data: large }, 9000: { previous: 4_000, data: large } },
      { after: 0, upTo: 9_000 },
      [100, 4_000, 9_000],
      [9_000, 4_000, [0, 100]],
    ],
  ])('%s', async (_, log, range, expected, expectedReads) => {
    const { reads, read } = readsOf(log);
    expect(await seqsOf(reads, range)).toEqual(expected);
    expect(read).toEqual(expectedReads);
  });

  test('a long range is not walked to its beginning: each step waits for the broker', async () => {
    const chain = Object.fromEntries([...Array(200).keys()].map((at) => [1_000 * (at + 1), { previous: 1_000 * at }]));
    const { reads, read } = readsOf(chain);
    expect(await seqsOf(reads, { after: 0, upTo: 200_000 })).toEqual(Object.keys(chain).map(Number));
    expect(read).toHaveLength(65);
    expect(read.at(-1)).toEqual([0, 136_000]);
  });

  test.each([
    ['none but the first read', [9_000, 200, 200, 200], [100]],
    ['none at first', [200, 200], [100]],
    ['some, and catch up', [9_000, 200, 200], [100, 4_000, 9_000]],
    ['some while the rest is read', [9_000, 9_000, 9_000, 200], [100, 4_000, 9_000]],
  ])('where replicas lag, those at the end are missing, and none between: they have %s', async (_, ends, expected) => {
    expect(await seqsOf(readsOf(commits, ends).reads, { after: 0, upTo: 9_000 })).toEqual(expected);
  });
});
