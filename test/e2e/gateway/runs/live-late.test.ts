import { expect, test, vi } from 'vitest';
import { keyOf } from '../../../support/domain/commits.ts';
import { openStream, pathOf, type Stream, startWorld } from '../setup.ts';

const key = keyOf('agent:main:main');
const turn = { id: 'a turn', attempt: 1 };

/** The text of each attempt as a client puts it together; fails at a gap or a repetition. */
const textsOf = ({ messages }: Stream): Record<number, string> => {
  const texts: Record<number, string> = {};
  let end = 0;
  for (const { event, data } of messages) {
    if (event !== 'delta') continue;
    const delta = JSON.parse(data);
    const attempt: number = delta.turn.attempt;
    if (texts[attempt] === undefined) end = 0;
    expect(delta.offset).toBe(end);
    end = delta.end;
    texts[attempt] = (texts[attempt] ?? '') + delta.text;
  }
  return texts;
};

test('A6/79: a stream that joins while a reply is being made gets its text from the beginning, once', async () => {
  const { gateway, memory } = await startWorld();
  const { live } = memory.portsFor('speaker');
  const join = () => openStream(gateway.url, pathOf(key, '/events?deltas=1'));
  const said: Record<number, string> = {};
  const say = (attempt: number, text: string) => {
    const offset = said[attempt]?.length ?? 0;
    said[attempt] = (said[attempt] ?? '') + text;
    live.publish(key, { turn: { ...turn, attempt }, step: 1, offset, text });
  };
  say(1, 'Once upon ');
  const first = await join();
  say(1, 'a time ');
  const both = await Promise.all([join(), join()]);
  for (const word of ['there ', 'was ', 'a ', 'host ']) say(1, word);
  const early = [first, ...both];
  await vi.waitFor(() => expect(early.map(textsOf)).toEqual([said, said, said]));
  say(2, 'Once more ');
  const late = await join();
  say(2, 'from the beginning');
  await vi.waitFor(() => expect(early.map(textsOf)).toEqual([said, said, said]));
  const afterwards = await join();
  await vi.waitFor(() => expect([late, afterwards].map(textsOf)).toEqual([{ 2: said[2] }, { 2: said[2] }]));
});
