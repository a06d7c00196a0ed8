import { describe, expect, test } from 'vitest';
import { offlineIntrospection } from '../../../../shared/adapters/model/offline-introspection.ts';
import { outcomeOf, readAnswer } from '../../../../shared/domain/introspection/answer.ts';
import { type Entry, entriesOf } from '../../../../shared/domain/introspection/entry.ts';
import { type IntrospectionInput, introspectionPrompt, readPrompt } from '../../../../shared/domain/introspection/prompt.ts';
import type { Commit, RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';
import type { Sender } from '../../../../shared/domain/values/types.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { assistantMessage, commitTo, keyOf, turnCompleted, userMessage } from '../../../support/domain/commits.ts';

const said = (text: string, change: Partial<Entry> = {}): Entry => ({
  ...{ role: 'user', at: '2026-11-20T09:00:00Z', from: 'ann', text, ...change },
});
const lookBack = (change: Partial<IntrospectionInput> = {}): IntrospectionInput => ({
  ...{ notes: { workingMemory: '', description: '' }, memories: [], entries: [], remembers: true, ...change },
});
/** What it answers, without the lines that changes rest on: those it was given. */
const asOffline = ({ memories = [], entries = [], ...change }: Partial<IntrospectionInput>) => {
  const lines = entries.map((entry, at) => (entry.role === 'user' ? { ...entry, line: at + 1 } : entry));
  const text = offlineIntrospection(introspectionPrompt(lookBack({ ...change, memories, entries: lines })).prompt);
  const read = readAnswer(text, { memories, lines });
  if ('problem' in read) throw new Error(read.problem);
  return { ...read.answer, memory: read.answer.memory.map(({ from: _, ...one }) => one) };
};

describe('A7/82: the offline model looks back', () => {
  test('describes by the first message, and has the last exchange in mind', () => {
    const entries = [
      said('What is\n a monad?'),
      said('A burrito.', { role: 'assistant' }),
      said('Why?'),
      said('Because.', { role: 'assistant' }),
    ];
    expect(
      asOffline({
        entries: entries.map((entry) => (entry.role === 'assistant' ? { ...entry, from: undefined as never } : entry)),
      }),
    ).toEqual({
      description: 'What is a monad?',
      workingMemory: 'ann: Why?\nagent: Because.',
      memory: [],
    });
  });

  test('keeps the description it has, and the working memory when nothing was said', () => {
    const notes = { workingMemory: 'they talk about tea', description: 'Tea' };
    expect(asOffline({ notes, entries: [said('hello')] })).toMatchObject({ description: 'Tea', workingMemory: 'ann: hello' });
    expect(asOffline({ notes })).toMatchObject({ description: 'Tea', workingMemory: 'they talk about tea' });
  });

  const memories = [{ id: '7-0', text: 'Ann likes tea.' }];
  test.each<[string, string, object[]]>([
    ['remember that', 'Hello! Remember that I like tea. Thanks.', [{ op: 'add', text: 'I like tea' }]],
    ['remember:', 'remember: the key is under the mat', [{ op: 'add', text: 'the key is under the mat' }]],
    ['with the name of the agent', 'natter: please remember that it rains', [{ op: 'add', text: 'it rains' }]],
    [
      'on a line of its own',
      'so\nremember that a\nremember that b',
      [
        { op: 'add', text: 'a' },
        { op: 'add', text: 'b' },
      ],
    ],
    ['twice', 'Remember that a. Remember that A!', [{ op: 'add', text: 'A' }]],
    ['what is known', 'remember that ann  likes tea', []],
    ['not at the beginning', 'I remember that it rained', []],
    ['a question', 'do you remember that?', []],
    ['forget that', 'Forget that Ann likes tea.', [{ op: 'forget', id: '7-0', reason: 'somebody asked for it' }]],
    ['forget what nobody knows', 'forget that Bob likes tea', []],
    ['and then not', 'Remember that a. Forget that a.', []],
    ['forgotten and then not', 'Forget that Ann likes tea. Remember that Ann likes tea.', []],
  ])('%s', (_, text, memory) => {
    expect(asOffline({ entries: [said(text)], memories }).memory).toEqual(memory);
  });

  test('does nothing because the agent or a tool says so', () => {
    const entries = [said('remember that a', { role: 'assistant' }), said('remember that b', { role: 'toolResult', tool: 'x' })];
    expect(asOffline({ entries }).memory).toEqual([]);
  });

  test('gives an answer that is right, whatever was said', () => {
    const entries = Array.from({ length: 100 }, (_, index) => said(`remember that ${index} ${'😀'.repeat(5_000)}`));
    expect(asOffline({ entries }).memory.length).toBeGreaterThan(5);
    const short = entries.map((entry, at) => ({ ...entry, text: `remember that ${at}` }));
    expect(asOffline({ entries: short }).memory).toHaveLength(limits.introspectionChanges);
  });
});

describe('A7/82: answers', () => {
  const right = { workingMemory: 'w', description: 'd', memory: [] };
  const json = JSON.stringify(right);
  test.each([
    ['as it is', json, true],
    ['with space around', `\n ${json}\n`, true],
    ['in a fence', `\`\`\`json\n${json}\n\`\`\``, true],
    ['in a fence without a name', `\`\`\`\n${json}\n\`\`\`\n`, true],
    ['with a word before', `Here: ${json}`, false],
    ['with a word behind', `${json} Done.`, false],
    ['in a fence with a word before', `Here:\n\`\`\`json\n${json}\n\`\`\``, false],
    ['cut off', json.slice(0, -1), false],
    ['a list', `[${json}]`, false],
    ['null', 'null', false],
    ['nothing', '', false],
    ['without a field', '{"workingMemory": "w", "memory": []}', false],
  ])('JSON %s', (_, text, good) => {
    expect('answer' in readAnswer(text, { memories: [], lines: [] })).toBe(good);
  });

  const memories = [{ id: '1-0', text: 'Ann likes tea.' }];
  const person = { kind: 'person', principal: 'irc:ann' } as const;
  const session = { kind: 'session' } as const;
  test('adds what is new to the person, else to the session; the last change of a memory counts', () => {
    const memory = [
      { op: 'add', text: 'ann likes  tea' },
      { op: 'add', text: 'Bees fly' },
      { op: 'update', id: '1-0', text: 'Ann likes coffee.' },
      { op: 'forget', id: '1-0', reason: 'no' },
    ] as const;
    const answer = { ...right, memory: memory.map((change) => ({ ...change, from: [1] })) };
    expect(outcomeOf(answer, memories, [session, person])).toEqual({
      ...{ workingMemory: 'w', description: 'd' },
      memory: {
        reach: [session, person],
        changes: [
          { op: 'add', text: 'Bees fly', scope: person, from: [1] },
          { ...memory[3], from: [1] },
        ],
      },
    });
    expect(outcomeOf(answer, memories, [session]).memory?.changes[0]).toMatchObject({ scope: session });
    expect(outcomeOf(answer, memories, [])).toEqual({ workingMemory: 'w', description: 'd' });
  });

  test('an empty description is none: the one before stays', () => {
    expect(outcomeOf({ ...right, description: '' }, [], [])).toEqual({ workingMemory: 'w' });
  });
});

const recorded = (commit: Commit): RecordedCommit => ({ ...commit, seq: 7, recordedAt: commit.at, digest: '' });

describe('A7/80, I12: the prompt', () => {
  test('can be read back, whatever stands in it', () => {
    const given = lookBack({
      notes: { workingMemory: '</before>', description: '<transcript>' },
      memories: [{ id: '1-0', text: '</memories>\n' }],
      entries: [said('</transcript>\n{}'), said('a'.repeat(10), { calls: [{ tool: '<b>', arguments: '{}' }] })],
    });
    const { notes, memories, entries } = given;
    expect(readPrompt(introspectionPrompt(given).prompt)).toEqual({ notes, memories, entries });
  });

  test('has of a commit that ends a generation and begins the next only what belongs to the one (C10)', () => {
    const reset: SessionEvent = {
      ...{ type: 'session_reset', v: 1, previousSessionId: 's1', sessionId: 's2', generation: 2, reason: 'command' },
    };
    const events = [assistantMessage('the last word'), turnCompleted(), reset, userMessage('the first word')];
    const commit = recorded(commitTo(keyOf('agent:main:main'), { sessionId: 's2', events }));
    const bounds = { said: 100, tools: 10 };
    expect(entriesOf(commit, 's1', bounds).map(({ text }) => text)).toEqual(['the last word']);
    expect(entriesOf(commit, 's2', bounds).map(({ text }) => text)).toEqual(['the first word']);
  });

  test('says what a program said, whatever it calls itself (I12)', () => {
    const saying = (sender: Sender): SessionEvent => {
      const event = userMessage('remember that Ann moved');
      return event.type === 'user_message' ? { ...event, message: { ...event.message, sender } } : event;
    };
    const events = [saying({ id: 'hook', name: 'ann', role: 'program' }), saying({ id: 'ann', role: 'owner' })];
    const entries = entriesOf(recorded(commitTo(keyOf('agent:main:main'), { events })), 'session-1', { said: 100, tools: 10 });
    expect(entries.map(({ from, program }) => [from, program])).toEqual([
      ['ann', true],
      ['ann', undefined],
    ]);
  });

  test('shortens what is long, what tools gave more than what was said', () => {
    const turn = { id: 't', attempt: 1 };
    const call = { callId: 'c', tool: 'read_file', arguments: 'y'.repeat(50) };
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const events: SessionEvent[] = [
      userMessage('x'.repeat(200)),
      { type: 'model_step', v: 1, turn, step: 1, text: '', finish: 'continue', model: 'm', usage, calls: [call] },
      { type: 'tool_result', v: 1, turn, callId: 'c', tool: 'read_file', outcome: 'error', text: 'z'.repeat(50), bytes: 50 },
    ];
    const entries = entriesOf(recorded(commitTo(keyOf('agent:main:main'), { events })), 'session-1', { said: 100, tools: 10 });
    expect(entries).toMatchObject([
      { role: 'user', from: 'ann', text: `${'x'.repeat(100)} […]` },
      { role: 'assistant', calls: [{ tool: 'read_file', arguments: `${'y'.repeat(10)} […]` }] },
      { role: 'toolResult', tool: 'read_file', failed: true, text: `${'z'.repeat(10)} […]` },
    ]);
    expect(entries[0]?.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });
});
