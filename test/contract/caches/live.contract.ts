import { expect, test, vi } from 'vitest';
import { createLive } from '../../../shared/adapters/streams/live.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Delta, Live } from '../../../shared/ports/live.ts';
import { joinCodec } from '../../../shared/wire/records.ts';
import { type CacheBroker, subjects } from '../../support/caches.ts';
import { freshKey } from '../../support/domain/commits.ts';

type Place = Partial<Pick<Delta, 'turn' | 'step'>>;
const delta = (offset: number, text = 'ab', place: Place = {}): Delta => ({
  ...{ turn: { id: 'turn-1', attempt: 1 }, step: 1, ...place },
  offset,
  text,
});

/** A step that is told piece by piece. */
const speak = (live: Live, key: SessionKey, place: Place = {}) => {
  let offset = 0;
  return (...texts: string[]): void => {
    for (const text of texts) {
      live.publish(key, delta(offset, text, place));
      offset += text.length;
    }
  };
};

/** What one reader has put together: the text of each step by its name. Fails at a gap or a repetition. */
const follow = (live: Live, key: SessionKey, signal = new AbortController().signal) => {
  const texts: Record<string, string> = {};
  const reading = (async () => {
    for await (const { turn, step, offset, text } of live.subscribe(key, signal)) {
      const name = `${turn.id}/${turn.attempt}/${step}`;
      expect(offset).toBe(texts[name]?.length ?? 0);
      texts[name] = (texts[name] ?? '') + text;
    }
  })();
  return { texts, reading };
};

/** The servers of a cluster need a moment to know of each other's readers. Resolves with all that was said. */
const sayUntilHeard = async (say: (text: string) => void, readers: readonly Record<string, string>[]): Promise<string> => {
  let told = '';
  await vi.waitFor(() => {
    say('- ');
    told += '- ';
    for (const texts of readers) expect(texts).not.toEqual({});
  });
  return told;
};

export const liveContract = (broker: () => CacheBroker): void => {
  /** One that speaks and one that listens, whose servers know that the first hears who asks. */
  const two = async () => {
    const [speaker, listener] = [await broker().host(), await broker().host()];
    const [key, abort] = [freshKey(), new AbortController()];
    await sayUntilHeard(speak(speaker.live, key), [follow(listener.live, key, abort.signal).texts]);
    abort.abort();
    return [speaker, listener] as const;
  };

  test('pieces of a key reach its readers on any host, in order and without a gap', async () => {
    const [[speaker, listener], key] = [await two(), freshKey()];
    const readers = [speaker, listener, listener].map(({ live }) => follow(live, key));
    const say = speak(speaker.live, key);
    const told = await sayUntilHeard(
      say,
      readers.map(({ texts }) => texts),
    );
    const pieces = Array.from({ length: 200 }, (_, at) => `${at} `);
    say(...pieces);
    for (const { texts } of readers) await vi.waitFor(() => expect(texts).toEqual({ 'turn-1/1/1': told + pieces.join('') }));
  });

  test('who comes late gets the text of the running step from its beginning, exactly once, also while pieces keep coming', async () => {
    const [[speaker, listener], key] = [await two(), freshKey()];
    const say = speak(speaker.live, key);
    let told = '';
    const readers = [];
    for (let at = 0; at < 60; at++) {
      if (at % 20 === 10) for (const _ of [1, 2]) readers.push(follow(listener.live, key));
      say(`${at} `);
      told += `${at} `;
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const { texts } of readers) await vi.waitFor(() => expect(texts).toEqual({ 'turn-1/1/1': told }));
  });

  test('who comes while nothing is said gets what was said, two at a time each on its own', async () => {
    const [[speaker, listener], key] = [await two(), freshKey()];
    speak(speaker.live, key)('one ', 'two');
    const readers = [follow(listener.live, key), follow(listener.live, key), follow(speaker.live, key)];
    for (const { texts } of readers) await vi.waitFor(() => expect(texts).toEqual({ 'turn-1/1/1': 'one two' }));
  });

  test('a new attempt begins anew, and late words of the old one, of an older step and of an older turn are not told', async () => {
    const [[speaker, listener], key] = [await two(), freshKey()];
    const [old, again] = [speak(speaker.live, key), speak(speaker.live, key, { step: 1, turn: { id: 'turn-1', attempt: 2 } })];
    old('begun by ');
    const { texts } = follow(listener.live, key);
    await vi.waitFor(() => expect(texts).toEqual({ 'turn-1/1/1': 'begun by ' }));
    again('again');
    speak(speaker.live, key, { step: 2, turn: { id: 'turn-1', attempt: 2 } })('next step');
    old('one that died');
    again(', late');
    speak(speaker.live, key, { turn: { id: 'turn-2', attempt: 1 } })('next turn');
    old(' long ago');
    speak(speaker.live, key, { step: 2, turn: { id: 'turn-2', attempt: 1 } })('end');
    const told = { 'turn-1/1/1': 'begun by ', 'turn-1/2/1': 'again', 'turn-1/2/2': 'next step', 'turn-2/1/1': 'next turn' };
    await vi.waitFor(() => expect(texts).toEqual({ ...told, 'turn-2/1/2': 'end' }));
  });

  test('a piece that got lost is asked for', async () => {
    const [[, listener], key] = [await two(), freshKey()];
    let lost = false;
    const publish = (subject: string, bytes: Uint8Array) => lost || broker().ephemera.publish(subject, bytes);
    const speaker = createLive({ ...broker().ephemera, publish }, subjects, '_INBOX.speaker');
    const { texts } = follow(listener.live, key);
    const say = speak(speaker, key);
    const told = await sayUntilHeard(say, [texts]);
    lost = true;
    say('two ');
    lost = false;
    say('three');
    await vi.waitFor(() => expect(texts).toEqual({ 'turn-1/1/1': `${told}two three` }));
  });

  test('what has ended is not told to who comes later: it is in the log', async () => {
    const [[speaker, listener], key] = [await two(), freshKey()];
    const say = speak(speaker.live, key);
    say('over');
    speaker.live.ended(key, { id: 'turn-1', attempt: 2 });
    const early = follow(listener.live, key);
    await vi.waitFor(() => expect(early.texts).toEqual({ 'turn-1/1/1': 'over' }));
    speaker.live.ended(key, { id: 'turn-1', attempt: 1 });
    const late = follow(listener.live, key);
    // What follows is heard of by both once the question of the second was answered, or not.
    await new Promise((resolve) => setImmediate(resolve));
    speak(speaker.live, key, { step: 2 })('next');
    await vi.waitFor(() => expect(late.texts).toEqual({ 'turn-1/1/2': 'next' }));
  });

  test('I8: no piece reaches the reader of another key, be it above or below', async () => {
    const [[speaker, listener], key] = [await two(), freshKey()];
    const below = freshKey(key);
    speak(speaker.live, key)('for the key');
    const readers = [key, below].map((each) => follow(listener.live, each));
    speak(speaker.live, below)('for the one below');
    await vi.waitFor(() => expect(readers.map(({ texts }) => texts['turn-1/1/1'])).toEqual(['for the key', 'for the one below']));
  });

  test('I11: a reader that does not read keeps one text, however many its pieces', async () => {
    const [[speaker, listener], key, abort] = [await two(), freshKey(), new AbortController()];
    const slow = listener.live.subscribe(key, abort.signal);
    const quick = follow(listener.live, key);
    const say = speak(speaker.live, key);
    const pieces = Array.from({ length: 2 * limits.streamFrames }, (_, at) => `${at} `);
    say(...pieces);
    await vi.waitFor(() => expect(quick.texts).toEqual({ 'turn-1/1/1': pieces.join('') }));
    abort.abort();
    const read: Delta[] = [];
    for await (const each of slow) read.push(each);
    expect(read).toEqual([delta(0, pieces.join(''))]);
  });

  test('I11: of many long steps a reader that does not read keeps the newest', async () => {
    const [[speaker, listener], key, abort] = [await two(), freshKey(), new AbortController()];
    const slow = listener.live.subscribe(key, abort.signal);
    const quick = follow(listener.live, key);
    const long = 'x'.repeat(200_000);
    speak(speaker.live, key)(long);
    await vi.waitFor(() => expect(quick.texts['turn-1/1/1']).toBe(long));
    for (let step = 2; step <= 20; step++) speak(speaker.live, key, { step })(long);
    await vi.waitFor(() => expect(quick.texts['turn-1/1/20']).toBe(long));
    abort.abort();
    const read: number[] = [];
    for await (const { step } of slow) read.push(step);
    expect(read).toEqual([16, 17, 18, 19, 20]);
  });

  test('a long text comes whole, its characters uncut', async () => {
    const [[speaker, listener], key] = [await two(), freshKey()];
    const long = `.${'😀'.repeat(limits.modelOutputBytes / 2 - 1)}`;
    speak(speaker.live, key)(long);
    const { texts } = follow(listener.live, key);
    await vi.waitFor(() => expect(texts['turn-1/1/1'] === long).toBe(true));
  });

  test('what is not a delta and who is not an inbox is passed over', async () => {
    const [[speaker, listener], key] = [await two(), freshKey()];
    const { texts } = follow(listener.live, key);
    const heard = vi.fn();
    broker().ephemera.subscribe('not-an-inbox', heard);
    for (const subject of [subjects.live(key), subjects.join]) broker().ephemera.publish(subject, Buffer.from('hello'));
    speaker.live.publish(key, { ...delta(0), step: 0 });
    speak(speaker.live, key)('all is well');
    broker().ephemera.publish(subjects.join, joinCodec.encode({ key, answerTo: 'not-an-inbox' }));
    await vi.waitFor(() => expect(texts).toEqual({ 'turn-1/1/1': 'all is well' }));
    expect(heard).not.toHaveBeenCalled();
  });

  test('reading ends with the signal, before and while one reads', async () => {
    const { live } = await broker().host();
    const abort = new AbortController();
    const { texts, reading } = follow(live, freshKey(), abort.signal);
    abort.abort();
    await reading;
    await follow(live, freshKey(), abort.signal).reading;
    expect(texts).toEqual({});
  });
};
