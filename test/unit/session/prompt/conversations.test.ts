import { describe, expect, test } from 'vitest';
import { Conversations } from '../../../../services/session/prompt/conversations.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { fold, initialState } from '../../../../shared/domain/session/fold/evolve.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { key, tell } from '../../../support/domain/given.ts';
import { logOf, rowsOf } from '../../domain/context/rows.ts';

const positionAfter = (commits: readonly RecordedCommit[]) => commits.reduce(fold, initialState).position;

describe('the conversations of a host', () => {
  const story = ['post m1', 'reply m1/1 1', 'post m2', 'continue m2/1 1', 'continue m2/1 2', 'reply m2/1 3', 'post m3'];

  test('are read once, and then only what is new', async () => {
    const { commits } = tell(...story);
    const log = logOf(commits);
    const conversations = new Conversations(log);
    const upTo = async (count: number, turnId: string) =>
      rowsOf(await conversations.read(key, { id: turnId }, positionAfter(commits.slice(0, count))));
    expect(await upTo(4, 'm2')).toEqual(['m1', '> step 1 of m1/1', 'm2', '> step 1 of m2/1']);
    expect(log.read()).toEqual([1, 2, 3, 4, 5]);
    expect((await upTo(5, 'm2')).at(-1)).toBe('> step 2 of m2/1');
    expect(log.read()).toEqual([5, 6]);
    expect((await upTo(5, 'm2')).at(-1)).toBe('> step 2 of m2/1');
    expect(log.read()).toEqual([]);
  });

  test('need not read what they are told of', async () => {
    const { commits } = tell(...story);
    const log = logOf(commits);
    const conversations = new Conversations(log);
    for (const commit of commits.slice(0, 1)) conversations.note(commit, false);
    await conversations.read(key, { id: 'm2' }, positionAfter(commits.slice(0, 4)));
    log.read();
    for (const commit of commits.slice(2)) conversations.note(commit, false);
    expect(rowsOf(await conversations.read(key, { id: 'm3' }, positionAfter(commits)))).toHaveLength(7);
    expect(log.read()).toEqual([]);
  });

  test('A11/126: reading begins where the last summary says', async () => {
    const { commits, state } = tell(...story, 'compacted m3/1 5 12', 'continue m3/1 1');
    const log = logOf(commits);
    const { said } = await new Conversations(log).read(key, { id: 'm3' }, state.position);
    expect(rowsOf({ said })).toEqual([expect.stringContaining('what was said'), '> step 3 of m2/1', 'm3', '> step 1 of m3/1']);
    expect(log.read()).toEqual([6, 7, 8, 9]);
  });

  test.each([
    ['begins too late for what was kept', 'compacted m3/1 4 16'],
    ['begins too late for what the turn is about', 'compacted m3/1 7 16'],
  ])('a summary that %s is found out, and all is read', async (_, compacted) => {
    const { commits, state } = tell(...story, compacted, 'continue m3/1 1');
    const log = logOf(commits);
    const { said } = await new Conversations(log).read(key, { id: 'm3' }, state.position);
    const whole = await new Conversations(log).read(key, { id: 'm3' }, { ...state.position, contextSeq: 0 });
    expect(said).toEqual(whole.said);
    expect(said[0]?.summary).toBe(true);
    expect(rowsOf({ said })).toContain('m3');
  });

  test('I4: two that read at once see the same', async () => {
    const { commits, state } = tell(...story);
    const conversations = new Conversations(logOf(commits));
    await conversations.read(key, { id: 'm2' }, positionAfter(commits.slice(0, 4)));
    const [one, other] = await Promise.all([1, 2].map(() => conversations.read(key, { id: 'm3' }, state.position)));
    expect(one).toEqual(other);
    expect(one?.said).toHaveLength(7);
  });

  test('what a turn was given does not change under it', async () => {
    const { commits } = tell(...story);
    const conversations = new Conversations(logOf(commits));
    const before = await conversations.read(key, { id: 'm2' }, positionAfter(commits.slice(0, 4)));
    const copy = structuredClone(before);
    await conversations.read(key, { id: 'm2' }, positionAfter(commits.slice(0, 5)));
    expect(before).toEqual(copy);
  });

  test('a turn that does not run is an error that names it', async () => {
    const { commits, state } = tell(...story);
    await expect(new Conversations(logOf(commits)).read(key, { id: 'm9' }, state.position)).rejects.toThrow(
      /m9.*agent:main:test/,
    );
  });

  test('I11: all of them together are bounded; the one used last stays', async () => {
    const text = 'x'.repeat(3_900_000);
    const { commits: small, state } = tell('append m0', 'post m1');
    const commits = small.map((commit) => ({
      ...commit,
      events: commit.events.map((event) =>
        event.type === 'user_message' && event.message.messageId === 'm0'
          ? { ...event, message: { ...event.message, text } }
          : event,
      ),
    }));
    const keys = Array.from({ length: 20 }, (_, index) => `agent:main:test-${index}` as SessionKey);
    const log = logOf(keys.flatMap((of) => commits.map((commit) => ({ ...commit, key: of }))));
    const conversations = new Conversations(log);
    const read = (of: SessionKey) => conversations.read(of, { id: 'm1' }, state.position);
    for (const of of keys) await read(of);
    log.read();
    const kept = Math.floor(limits.cachedContextCharacters / text.length);
    for (const of of keys.slice(-kept)) await read(of);
    expect(log.read()).toEqual([]);
    await read(keys[0] as SessionKey);
    expect(log.read()).toEqual([1, 2]);
    conversations.forget(keys[0] as SessionKey);
    await read(keys[0] as SessionKey);
    expect(log.read()).toEqual([1, 2]);
  });

  test('I11: one that grows in memory counts with all it has', async () => {
    const long = Array.from({ length: 12 }, (_, index) => `continue m1/1 ${index + 1}`);
    const { commits } = tell('post m1', ...long);
    const text = 'x'.repeat(300_000);
    const grown = commits.map((commit) => ({
      ...commit,
      events: commit.events.map((event) => (event.type === 'model_step' ? { ...event, text } : event)),
    }));
    const keys = Array.from({ length: 30 }, (_, index) => `agent:main:test-${index}` as SessionKey);
    const log = logOf(keys.flatMap((of) => grown.map((commit) => ({ ...commit, key: of }))));
    const conversations = new Conversations(log);
    for (const of of keys) await conversations.read(of, { id: 'm1' }, positionAfter(commits.slice(0, 2)));
    log.read();
    for (const of of keys) for (const commit of grown.slice(2)) conversations.note({ ...commit, key: of }, false);
    await conversations.read(keys[0] as SessionKey, { id: 'm1' }, positionAfter(commits));
    expect(log.read().length).toBeGreaterThan(0);
  });
});
