import { describe, expect, test } from 'vitest';
import type { FencedMessage } from '../../../../shared/adapters/nats/client/direct-batch.ts';
import { walkBack } from '../../../../shared/adapters/nats/log/walk-back.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { subjectsUnder } from '../../../../shared/wire/subjects.ts';

const subjects = subjectsUnder('natter');
const [key, other] = ['agent:main:irc:dm:ann', 'agent:main:irc:dm:bob'] as SessionKey[] as [SessionKey, SessionKey];

type Given = Partial<FencedMessage> & { readonly of?: SessionKey };
/** A log with these messages; `asked`: which were read. */
const logOf = (messages: Record<number, Given>) => {
  const asked: number[] = [];
  const get = async (seq: number): Promise<FencedMessage | null> => {
    asked.push(seq);
    const { of = key, ...given } = messages[seq] ?? {};
    if (messages[seq] === undefined) return null;
    return { seq, subject: subjects.event('user_message', of), time: 0, data: new Uint8Array(1), previous: 0, ...given };
  };
  return { get, asked };
};
const commits = { 100: { previous: 0 }, 4000: { previous: 100 }, 9000: { previous: 4_000 } };
const large = new Uint8Array(limits.readBytes / 2);

describe('the commits of a key among those of others, found from the newest', () => {
  test.each<
    [string, Record<number, Given>, { after: number; upTo: number }, { rest: number; found: number[]; asked?: number[] }]
  >([
    ['all of them', commits, { after: 0, upTo: 9_000 }, { rest: 0, found: [100, 4_000, 9_000] }],
    ['those after one', commits, { after: 100, upTo: 9_000 }, { rest: 100, found: [4_000, 9_000] }],
    ['those after a sequence between', commits, { after: 200, upTo: 9_000 }, { rest: 100, found: [4_000, 9_000] }],
    ['none in a short range', commits, { after: 8_800, upTo: 9_000 }, { rest: 9_000, found: [], asked: [] }],
    ['as many as the range is worth', commits, { after: 8_400, upTo: 9_000 }, { rest: 4_000, found: [9_000] }],
    ['not from a message that is not there', commits, { after: 0, upTo: 9_001 }, { rest: 9_001, found: [] }],
    [
      'not past one that is gone',
      { 4000: { previous: 100 }, 9000: { previous: 4_000 } },
      { after: 0, upTo: 9_000 },
      { rest: 100, found: [4_000, 9_000] },
    ],
    [
      'not past one of another key',
      { ...commits, 100: { of: other } },
      { after: 0, upTo: 9_000 },
      { rest: 100, found: [4_000, 9_000] },
    ],
    [
      'not past one whose fence is unknown',
      { ...commits, 4000: { previous: null } },
      { after: 0, upTo: 9_000 },
      { rest: 3_999, found: [4_000, 9_000] },
    ],
    [
      'not more bytes than a read has',
      { ...commits, 4000: { previous: 100, data: large }, 9000: { previous: 4_000, data: large } },
      { after: 0, upTo: 9_000 },
      { rest: 100, found: [4_000, 9_000], asked: [9_000, 4_000] },
    ],
  ])('%s', async (_, messages, range, expected) => {
    const { get, asked } = logOf(messages);
    const { rest, messages: found } = await walkBack(get, subjects, { key, ...range });
    expect({ rest, found: found.map(({ seq }) => seq) }).toEqual({ rest: expected.rest, found: expected.found });
    if (expected.asked) expect(asked).toEqual(expected.asked);
  });

  test('a long range is not walked to its beginning: each step waits for the broker', async () => {
    const chain = Object.fromEntries([...Array(200).keys()].map((at) => [1_000 * (at + 1), { previous: 1_000 * at }]));
    const { get, asked } = logOf(chain);
    const { rest, messages } = await walkBack(get, subjects, { key, after: 0, upTo: 200_000 });
    expect({ rest, found: messages.length, asked: asked.length }).toEqual({ rest: 136_000, found: 64, asked: 64 });
  });
});
