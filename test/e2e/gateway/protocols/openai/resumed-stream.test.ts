import type OpenAI from 'openai';
import { expect, test } from 'vitest';
import { startWhole } from '../../../system/whole.ts';
import { clientFor, failureOf } from '../openai-rig.ts';

/** A response that is streamed again: to a client that has lost its stream, or has begun the response in the background. */

type Event = OpenAI.Responses.ResponseStreamEvent;
const eventsOf = async (stream: AsyncIterable<Event>, take: (event: Event) => boolean = () => true): Promise<Event[]> => {
  const events: Event[] = [];
  for await (const event of stream) {
    events.push(event);
    if (!take(event)) break;
  }
  return events;
};
const textOf = (events: readonly Event[]): string =>
  events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');
const start = async () => {
  const { gateways } = await startWhole({ gateways: 2 });
  const [first, second] = gateways.map(({ url }) => url);
  return { openai: clientFor(first ?? ''), other: clientFor(second ?? '') };
};
const idIn = ([first]: readonly Event[]): string => (first?.type === 'response.created' ? first.response.id : '');

test('a stream that was lost goes on after the last event that came, at any replica, and loses and repeats nothing', async () => {
  const { openai, other } = await start();
  const asked = { model: 'natter', stream: true, background: true, input: '[[think 400]] one two three four' } as const;
  const lost = await eventsOf(await openai.responses.create(asked), (event) => event.type !== 'response.output_text.delta');
  const { sequence_number: startingAfter = -1 } = lost.at(-1) ?? {};
  const rest = await eventsOf(await other.responses.retrieve(idIn(lost), { stream: true, starting_after: startingAfter }));
  const text = 'You said: one two three four';
  expect(textOf(lost)).not.toBe('');
  expect(textOf([...lost, ...rest])).toBe(text);
  expect(rest[0]?.sequence_number).toBeGreaterThan(startingAfter);
  expect(rest.at(-1)).toMatchObject({ type: 'response.completed', response: { output: [{ content: [{ text }] }] } });
});

test('a response that is over is streamed from its beginning, with the numbers of its first stream', async () => {
  const { openai, other } = await start();
  const asked = { model: 'natter', stream: true, input: '[[steps 2]] [[think 50]] all of it' } as const;
  const first = await eventsOf(await openai.responses.create(asked));
  const again = await eventsOf(await other.responses.retrieve(idIn(first), { stream: true }));
  expect(textOf(again)).toBe(textOf(first));
  const numbered = (events: readonly Event[]) =>
    events.flatMap(({ type, sequence_number: number }) => (type.endsWith('.delta') ? [] : [[type, number]]));
  expect(numbered(again)).toEqual(numbered(first));
  for (const at of [5, 11, 10_000]) {
    const rest = await eventsOf(await other.responses.retrieve(idIn(first), { stream: true, starting_after: at }));
    // Four events come before the text.
    expect(textOf(rest)).toBe(textOf(first).slice(at - 3));
  }
  const runner = openai.responses.stream({ response_id: idIn(first), starting_after: 2 });
  expect((await runner.finalResponse()).output_text).toBe(textOf(first));
});

test('a failed response ends with its error, and what is asked wrongly is refused by name', async () => {
  const { openai } = await start();
  const begun = await openai.responses.create({ model: 'natter', background: true, input: '[[fail busy]]' });
  const read = async () => eventsOf(await openai.responses.retrieve(begun.id, { stream: true }));
  expect(await failureOf(read())).toMatchObject({ code: 'busy' });
  const wrong = openai.responses.retrieve(begun.id, { stream: true, starting_after: -1 });
  expect(await failureOf(wrong)).toMatchObject({ status: 400, param: 'starting_after' });
  const missing = openai.responses.retrieve('resp_1', { stream: true });
  expect(await failureOf(missing)).toMatchObject({ status: 404, code: 'response_not_found' });
});
