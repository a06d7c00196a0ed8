import { expect, test } from 'vitest';
import { linesOf, placeOf } from '../../../../../shared/domain/projections/transcript-line.ts';
import { key, tell } from '../../../../support/domain/given.ts';

const linesAfter = (...rows: string[]) => tell(...rows).commits.flatMap(linesOf);
const parsed = (text: string) => JSON.parse(text);

test('A2/16: a header, then the messages with who, what, when and which tokens', () => {
  const lines = linesAfter('post m1 @1000', 'reply m1/1 1 @2000');
  expect(lines.map(({ sessionId, generation }) => [sessionId, generation])).toEqual([
    ['s1', 1],
    ['s1', undefined],
    ['s1', undefined],
  ]);
  const [header, question, answer] = lines.map(({ text }) => parsed(text));
  expect(header).toEqual({ type: 'session', key, v: 1, id: '2.0', sessionId: 's1', generation: 1, createdAt: 1000 });
  expect(question).toMatchObject({
    ...{ type: 'message', id: '2.1', role: 'user', timestamp: 1000, sender: { id: 'user-1' }, messageId: 'm1' },
    content: [{ type: 'text', text: 'text of m1' }],
  });
  expect(answer).toMatchObject({ role: 'assistant', timestamp: 2000, model: 'test', usage: { totalTokens: 5 } });
});

test('A2/16: full turns: what tools were asked and what they answered, also when they failed', () => {
  const lines = linesAfter(
    'post m1',
    'call m1/1 1 read run',
    'result m1/1 m1.1.0 ok',
    'call m1/1 2 write run',
    'result m1/1 m1.2.0 error',
  );
  expect(lines.slice(2).map(({ text }) => parsed(text))).toMatchObject([
    { role: 'assistant', content: [{ type: 'toolCall', id: 'm1.1.0', name: 'read' }] },
    { role: 'toolResult', toolCallId: 'm1.1.0', toolName: 'read', isError: false, content: [{ text: 'ok of m1.1.0' }] },
    { role: 'assistant', content: [{ type: 'toolCall', id: 'm1.2.0', name: 'write' }] },
    { role: 'toolResult', toolCallId: 'm1.2.0', toolName: 'write', isError: true, content: [{ text: 'error of m1.2.0' }] },
  ]);
});

test('A2/16: an answer that was stopped has a line that says why, after its question', () => {
  const lines = linesAfter('post m1', 'stop');
  expect(lines.slice(1).map(({ text }) => parsed(text))).toMatchObject([
    { type: 'message', role: 'user', runId: 'm1' },
    { type: 'stopped', runId: 'm1', reason: 'stop' },
  ]);
});

test('A2/9: a reset ends one transcript and begins the next, also within one commit', () => {
  const lines = linesAfter('append m1', 'post m2', 'reset s2 m3');
  const nameIn = ({ messageId, generation, type }: Record<string, unknown>) => messageId ?? generation ?? type;
  expect(lines.map(({ sessionId, text }) => [sessionId, nameIn(parsed(text))])).toEqual([
    ['s1', 1],
    ['s1', 'm1'],
    ['s1', 'm2'],
    ['s1', 'stopped'],
    ['s2', 2],
    ['s2', 'm3'],
  ]);
});

test('B21: the header of a fork says where it comes from', () => {
  const header = linesAfter('append m1', 'append m2', 'fork s2 1').at(-1);
  expect(parsed(header?.text ?? '')).toMatchObject({
    type: 'session',
    sessionId: 's2',
    generation: 2,
    forkedFrom: { sessionId: 's1', seq: 2 },
  });
});

test('A2/16: a line has its event id, and is safe to show on a terminal', () => {
  const [commit] = tell('append m1').commits;
  if (commit === undefined) throw new Error('no commit');
  const events = commit.events.map((event) =>
    event.type === 'user_message' ? { ...event, message: { ...event.message, text: '\u001b[2J\u202e\n"' } } : event,
  );
  for (const line of linesOf({ ...commit, events })) {
    expect(placeOf(line.text)).toEqual({ seq: line.seq, index: line.index });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there.
    expect(line.text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  }
  expect(parsed(linesOf({ ...commit, events }).at(-1)?.text ?? '').content[0].text).toBe('\u001b[2J\u202e\n"');
});

test.each(['', '{', 'null', '{"id":7}', '{"id":"x"}', '[]'])('A2/16: %j is no line of ours', (text) => {
  expect(placeOf(text)).toBeNull();
});
