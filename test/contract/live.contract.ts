import { expect, it } from 'vitest';
import { limits } from '../../shared/kit/limits.ts';
import type { Delta } from '../../shared/ports.ts';
import { type CacheBroker, subjects } from '../support/caches.ts';
import { freshKey } from '../support/commits.ts';

const delta = (offset: number, text = 'ab'): Delta => ({ turn: { id: 'turn-1', attempt: 1 }, step: 1, offset, text });

/** Reads until the text `end` arrives. */
const readAll = async (deltas: AsyncIterable<Delta>): Promise<Delta[]> => {
  const read: Delta[] = [];
  for await (const each of deltas) {
    if (each.text === 'end') break;
    read.push(each);
  }
  return read;
};

export const liveContract = (broker: () => CacheBroker): void => {
  it('pieces of a key reach its readers on any host, in order and without a gap', async () => {
    const [speaker, key, signal] = [await broker().host(), freshKey(), new AbortController().signal];
    const hosts = [speaker, await broker().host(), await broker().host()];
    const readers = hosts.map(({ live }) => live.subscribe(key, signal)[Symbol.asyncIterator]());
    // A subscription takes a moment to get to a broker over another connection.
    await repeatUntil(Promise.all(readers.map((reader) => reader.next())), () => speaker.live.publish(key, delta(0, 'ready')));
    const sent = Array.from({ length: 200 }, (_, at) => delta(2 * at));
    for (const each of [...sent, delta(0, 'end')]) speaker.live.publish(key, each);
    for (const reader of readers) {
      const read = await readAll({ [Symbol.asyncIterator]: () => reader });
      expect(read.filter(({ text }) => text !== 'ready')).toEqual(sent);
    }
  });

  it('I8: no piece reaches the reader of another key, be it above or below', async () => {
    const { live } = await broker().host();
    const [key, signal] = [freshKey(), new AbortController().signal];
    const below = freshKey(key);
    const readers = [key, below].map((each) => live.subscribe(each, signal));
    live.publish(key, delta(1, 'for the key'));
    live.publish(below, delta(2, 'for the one below'));
    for (const each of [key, below]) live.publish(each, delta(3, 'end'));
    const heard = await Promise.all(readers.map(readAll));
    expect(heard).toEqual([[delta(1, 'for the key')], [delta(2, 'for the one below')]]);
  });

  it('I11: a reader that does not read keeps the newest pieces', async () => {
    const { live } = await broker().host();
    const [key, abort] = [freshKey(), new AbortController()];
    const [slow, quick] = [live.subscribe(key, abort.signal), live.subscribe(key, abort.signal)];
    const quickly = readAll(quick);
    for (let at = 0; at < limits.streamFrames + 500; at++) live.publish(key, delta(at));
    live.publish(key, delta(0, 'end'));
    await quickly;
    const read = await readAll(slow);
    expect(read).toHaveLength(limits.streamFrames - 1);
    expect(read[0]).toEqual(delta(501));
  });

  it('I11: long pieces count by their length', async () => {
    const { live } = await broker().host();
    const [key, abort] = [freshKey(), new AbortController()];
    const [slow, quick] = [live.subscribe(key, abort.signal), live.subscribe(key, abort.signal)];
    const quickly = readAll(quick);
    const long = 'x'.repeat(200_000);
    for (let at = 0; at < 20; at++) live.publish(key, delta(at, long));
    live.publish(key, delta(0, 'end'));
    await quickly;
    expect((await readAll(slow)).map(({ offset }) => offset)).toEqual([15, 16, 17, 18, 19]);
  });

  it('what is not a delta, or too large, is passed over', async () => {
    const { live } = await broker().host();
    const key = freshKey();
    const reader = live.subscribe(key, new AbortController().signal);
    broker().ephemera.publish(subjects.live(key), Buffer.from('hello'));
    live.publish(key, delta(0, 'x'.repeat(limits.commandBytes)));
    live.publish(key, { ...delta(1), step: 0 });
    live.publish(key, delta(2));
    live.publish(key, delta(0, 'end'));
    expect(await readAll(reader)).toEqual([delta(2)]);
  });

  it('reading ends with the signal, before and while one reads', async () => {
    const { live } = await broker().host();
    const abort = new AbortController();
    const reading = readAll(live.subscribe(freshKey(), abort.signal));
    abort.abort();
    expect(await reading).toEqual([]);
    expect(await readAll(live.subscribe(freshKey(), abort.signal))).toEqual([]);
  });
};

/** Does `again` at each turn of the event loop until `done` resolves. */
const repeatUntil = async (done: Promise<unknown>, again: () => void): Promise<void> => {
  let over = false;
  const settled = done.finally(() => {
    over = true;
  });
  while (!over) {
    again();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await settled;
};
