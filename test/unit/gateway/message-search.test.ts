import { expect, test } from 'vitest';
import { searchMessages } from '../../../services/gateway/messages/search-messages.ts';
import type { Call } from '../../../services/gateway/operation/operation.ts';
import { type FoundMessage, MessageSearch } from '../../../services/gateway/search/message-search.ts';
import { SearchIndex } from '../../../shared/adapters/kv/memory/memory-search-index.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { afterwards } from '../../support/afterwards.ts';

/** The search over messages (B19). */

const key = 'agent:main:main' as SessionKey;
const said = (text: string) => ({ type: 'user_message', message: { text } }) as SessionEvent;
/** Time passes only while somebody sleeps, and then at once. */
const quickClock = () => {
  let time = 0;
  const sleep = (ms: number): Promise<void> => {
    time += ms;
    return new Promise((resolve) => setImmediate(resolve));
  };
  return { ...systemClock, monotonic: () => time, sleep };
};

/** A log that ends with these commits, at a position of the test's choice. */
const startSearch = (
  open: () => Promise<SearchIndex<FoundMessage>> = async () => new SearchIndex<FoundMessage>(),
  before = 0,
) => {
  const clock = quickClock();
  const commits: RecordedCommit[] = [];
  const feed = {
    get position() {
      return before + commits.length;
    },
    async *follow({ after, signal }: { after: number; signal: AbortSignal }) {
      for (let at = after; !signal.aborted; await clock.sleep(1)) {
        for (const commit of commits.filter(({ seq }) => seq > at)) yield commit;
        at = Math.max(at, this.position);
      }
    },
  };
  const search = new MessageSearch(feed, clock, open);
  afterwards(() => search.close());
  const commit = (...events: SessionEvent[]): number => {
    const seq = before + commits.length + 1;
    commits.push({ key, seq, at: seq, rev: seq, events } as unknown as RecordedCommit);
    return seq;
  };
  const find = async (query: string) => {
    const { found, ...rest } = await search.search({ scopes: 'all', query, limit: 10 });
    return { texts: found.map(({ text }) => text).sort(), ...rest };
  };
  return { search, commit, find };
};

test('an installation in which nothing was said has nothing to find', async () => {
  expect(await startSearch().find('hello')).toEqual({ texts: [], since: 0, complete: true });
});

test('a message is found by the text that it has now, and not once it is withdrawn or its session deleted', async () => {
  const { commit, find } = startSearch();
  const [first, second] = [commit(said('red apple')), commit(said('green apple'))];
  expect((await find('apple')).texts).toEqual(['green apple', 'red apple']);
  commit({ type: 'message_edited', of: `${first}.0`, text: 'red pear' } as SessionEvent);
  expect([await find('apple'), await find('pear')]).toMatchObject([{ texts: ['green apple'] }, { texts: ['red pear'] }]);
  commit({ type: 'message_withdrawn', of: `${second}.0` } as SessionEvent);
  expect((await find('apple')).texts).toEqual([]);
  commit({ type: 'session_deleted', mode: 'session' } as SessionEvent);
  expect((await find('pear')).texts).toEqual([]);
});

test.each<[what: string, sender: object, words: string, isFound: boolean]>([
  ['the name', { id: '7', name: 'Olga Petrova' }, 'olga', true],
  ['a name and words of the text', { id: '7', name: 'Olga Petrova' }, 'petrova apple', true],
  ['another name', { id: '7', name: 'Karim' }, 'olga', false],
  ['the name of a token', { id: 'api', name: 'Olga' }, 'olga', false],
  ['no name', { id: '7' }, 'olga', false],
])('a message is found by the name of the person who wrote it: %s', async (_, sender, words, isFound) => {
  const { search, commit } = startSearch();
  const first = commit({ type: 'user_message', message: { text: 'red apple', sender } } as SessionEvent);
  const find = async () => (await search.search({ scopes: 'all', query: words, limit: 10 })).found;
  expect((await find()).length).toBe(isFound ? 1 : 0);
  commit({ type: 'message_edited', of: `${first}.0`, text: 'green apple' } as SessionEvent);
  expect(await find()).toMatchObject(isFound ? [{ text: 'green apple', from: 'Olga Petrova' }] : []);
  commit({ type: 'session_deleted', mode: 'erased' } as SessionEvent);
  expect(await find()).toEqual([]);
});

test('I11: the newest messages are kept, as many as fit, and it is said from where on', async () => {
  const { commit, find } = startSearch(undefined, 150_000);
  const long = 'x'.repeat(12_000_000);
  commit(said('old'));
  expect(await find('old')).toEqual({ texts: ['old'], since: 50_001, complete: true });
  for (const word of ['one', 'two', 'three']) commit(said(`${word} ${long}`));
  expect(await find('old')).toMatchObject({ texts: [], since: 150_002 });
  expect((await find('three')).texts).toHaveLength(1);
});

test('an index that cannot be opened is opened again, and until then the search says why there is none', async () => {
  let isBroken = true;
  const { commit, find } = startSearch(async () => {
    if (isBroken) throw new Error('no room');
    return new SearchIndex<FoundMessage>();
  });
  commit(said('hello'));
  await expect(find('hello')).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('no room') });
  isBroken = false;
  expect((await find('hello')).texts).toEqual(['hello']);
});

test('I8: what is found is shown as the log allows it now, whatever the index of sessions still says', async () => {
  const [gone, begunAnew] = ['agent:main:api:gone', 'agent:main:api:anew'] as readonly string[] as readonly SessionKey[];
  const found = [gone, begunAnew, begunAnew].map((scope, at) => ({
    ...{ id: `${at + 1}-0`, scope, source: { seq: at + 1 }, at, role: 'user', text: `word ${at + 1}`, from: 'Bea' },
  }));
  const access = {
    reach: () => ({ sees: () => true }),
    read: async (_: unknown, asked: SessionKey) => {
      if (asked === gone) throw new NatterError('not_found', 'gone');
      return { after: 2 };
    },
  };
  const searched: unknown[] = [];
  const context = {
    ...{ access, config: configSchema.parse({}) },
    sessions: { list: () => ({ rows: [{ key: gone }, { key: begunAnew }] }) },
    search: {
      search: async ({ scopes }: { scopes: unknown }) => {
        searched.push(scopes);
        return { found, since: 0, complete: true };
      },
    },
  };
  const call = { context, caller: { principal: { role: 'participant', principal: 'ann' } } } as unknown as Call;
  const { messages } = await searchMessages(call, { query: 'word', limit: 10 });
  expect(messages.map(({ id, from }) => [id, from])).toEqual([['3.0', 'Bea']]);
  // What others said takes no places among the best matches.
  expect(searched).toEqual([[gone, begunAnew]]);
});
