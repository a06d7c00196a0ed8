import { describe, expect, test } from 'vitest';
import { boundedSummary, compactionPrompt, planCompaction } from '../../../../shared/domain/prompt/compaction.ts';
import type { ModelMessage } from '../../../../shared/domain/prompt/model-request.ts';
import { contextTokens, messagesTokens, nextStepTokens, roomTokens } from '../../../../shared/domain/prompt/tokens.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { estimateTokens } from '../../../../shared/kit/token-estimate.ts';
import { tell } from '../../../support/domain/given.ts';
import { conversationOf, rowOf } from './rows.ts';

/** Where a story would be cut. All of its messages have 6 to 9 tokens. */
const planAfter = (settings: { keepTokens?: number; roomTokens?: number }, ...history: string[]) => {
  const { state, commits } = tell(...history);
  const turnId = state.machine.context.turn?.id ?? '';
  const view = conversationOf(commits).view(turnId);
  if (view === null) throw new Error('no turn runs');
  const plan = planCompaction(view, { turnId, keepTokens: 15, roomTokens: 1_000, ...settings });
  const revOf = (seq: number) => commits.find((commit) => commit.seq === seq)?.rev;
  return plan && { ...plan, older: plan.older.map(rowOf), kept: plan.kept.map(rowOf), keptFromRev: revOf(plan.keptFromSeq) };
};
const long = ['post m1', 'reply m1/1 1', 'post m2', 'reply m2/1 1', 'post m3'];

describe('A11/126: where a compaction cuts', () => {
  test('the latest messages stay as they are', () => {
    expect(planAfter({}, ...long)).toMatchObject({
      older: ['m1', '> step 1 of m1/1', 'm2'],
      kept: ['> step 1 of m2/1', 'm3'],
      throughRev: 3,
      keptFromRev: 3,
    });
  });

  test('there must be something before them', () => {
    expect(planAfter({}, 'post m1')).toBeNull();
    expect(planAfter({ keepTokens: 1_000, roomTokens: 10_000 }, ...long)).toBeNull();
    expect(planAfter({}, ...long, 'compacted m3/1 4 10')).toBeNull();
  });

  test('keeping never takes more than half of the room', () => {
    expect(planAfter({ keepTokens: 1_000, roomTokens: 40 }, ...long)?.kept).toEqual(['> step 1 of m2/1', 'm3']);
  });

  test('a call and its results are on one side', () => {
    const calls = ['post m3', 'call m3/1 1 read run run', 'result m3/1 m3.1.0', 'result m3/1 m3.1.1', 'reply m3/1 2', 'post m4'];
    const plan = planAfter({ keepTokens: 40 }, ...long.slice(0, 4), ...calls);
    expect(plan?.kept).toEqual(['> step 2 of m3/1', 'm4']);
    expect(plan?.older.slice(-3)).toEqual(['> calls m3.1.0 m3.1.1', 'm3.1.0 ok', 'm3.1.1 ok']);
  });

  test('the running turn stays whole', () => {
    const plan = planAfter({ keepTokens: 0 }, ...long, 'continue m3/1 1', 'continue m3/1 2');
    expect(plan?.kept).toEqual(['m3', '> step 1 of m3/1', '> step 2 of m3/1']);
  });

  test('unless it takes more than half of the room alone: then only what it is about stays', () => {
    const steps = Array.from({ length: 9 }, (_, index) => `continue m3/1 ${index + 1}`);
    const plan = planAfter({ roomTokens: 80 }, ...long, ...steps);
    expect(plan).toMatchObject({ kept: ['m3', '> step 9 of m3/1'], throughRev: 13, keptFromRev: 5 });
    expect(plan?.older).toHaveLength(12);
  });

  test('B6: reading goes on where a message that waits was said', () => {
    const plan = planAfter({}, 'post m1', 'post m9', 'continue m1/1 1', 'reply m1/1 2', 'post m2', 'reply m9/1 1');
    expect(plan).toMatchObject({ older: expect.arrayContaining(['m9']), kept: ['> step 1 of m9/1', 'm2'] });
    expect(planAfter({ keepTokens: 0 }, 'append m0', 'post m1', 'post m9')?.keptFromRev).toBe(2);
  });

  test('one that somebody asked for may leave nothing', () => {
    const plan = planAfter({ keepTokens: 0 }, 'post m1', 'reply m1/1 1', 'compact c1');
    expect(plan).toMatchObject({ older: ['m1', '> step 1 of m1/1'], kept: [], throughRev: 3, keptFromRev: 3 });
  });
});

describe('A11/126: the request for a summary', () => {
  const older: ModelMessage[] = [
    { role: 'user', name: 'Ann', text: 'Fix the disk.' },
    { role: 'assistant', text: 'I look.', calls: [{ callId: 'c1', tool: 'read_file', arguments: '{"path":"disk.md"}' }] },
    { role: 'tool', callId: 'c1', tool: 'read_file', outcome: 'error', text: 'x'.repeat(5_000) },
  ];

  test('tells the conversation as one text, without tools, long outputs shortened', () => {
    const { messages, tools, prompt, purpose } = compactionPrompt(older, { roomTokens: 10_000 });
    expect([tools, purpose]).toEqual([[], 'compaction']);
    expect(messages).toEqual([{ role: 'user', text: prompt }]);
    expect(prompt).toContain('Ann: Fix the disk.\n\nassistant: I look.\nassistant calls read_file {"path":"disk.md"}\n\n');
    expect(prompt).toContain(`read_file (error): ${'x'.repeat(2_000)} […]\n</conversation>`);
  });

  test('has the instructions of who asked for it', () => {
    expect(compactionPrompt(older, { roomTokens: 10_000, instructions: 'keep the names' }).system).toContain('keep the names');
    expect(compactionPrompt(older, { roomTokens: 10_000 }).system).not.toContain('in particular');
  });

  test('B14: is cut at its oldest part, with a note, where it would not fit the window', () => {
    const many = Array.from({ length: 500 }, (_, index): ModelMessage => ({ role: 'user', name: 'a', text: `message ${index}` }));
    const { system, messages, prompt } = compactionPrompt(many, { roomTokens: 1_000 });
    expect(contextTokens({ system, messages, tools: [] })).toBeLessThanOrEqual(1_000);
    expect(prompt).toContain('[What came before was too long to be shown.]');
    expect(prompt).toContain('a: message 499');
    expect(prompt).not.toContain('a: message 0\n');
  });

  test('I11: the summary is bounded, and says where it was cut', () => {
    expect(boundedSummary('  short \n', 100_000)).toBe('short');
    const cut = boundedSummary('y'.repeat(limits.summaryCharacters + 1), 100_000);
    expect(boundedSummary('y'.repeat(1_000), 500)).toHaveLength(500);
    expect([cut.length, cut.endsWith('\n[The summary was cut here.]')]).toEqual([limits.summaryCharacters, true]);
  });
});

describe('A1/3: tokens', () => {
  const said = ['one', 'two'].map((text, index) => ({ rev: index, seq: index, message: { role: 'user', text } as const }));
  const rest = { system: 's'.repeat(400), tools: [{ name: 'read', description: 'd'.repeat(92), parameters: {} }] };

  test('are four characters each where nobody has counted them', () => {
    expect(['', 'a', 'abcd', 'abcde'].map(estimateTokens)).toEqual([0, 1, 1, 2]);
    expect(contextTokens({ ...rest, messages: [] })).toBe(100 + 25);
  });

  test('calls count with their arguments', () => {
    const call = { callId: 'c', tool: 'read', arguments: 'a'.repeat(400) };
    expect(messagesTokens([{ role: 'assistant', text: '', calls: [call] }])).toBeGreaterThan(100);
  });

  test('of the next step are those that the provider counted, and an estimate of what came since', () => {
    const since = messagesTokens([{ role: 'user', text: 'two' }]);
    const counted = { tokens: 50, messages: 1 };
    expect(nextStepTokens({ said, counted }, rest)).toEqual({ tokens: 50 + since, estimated: false });
    const all = contextTokens({ ...rest, messages: said.map(({ message }) => message) });
    expect(nextStepTokens({ said, counted: null }, rest)).toEqual({ tokens: all, estimated: true });
  });

  test('leave room for the answer, at most half of the window', () => {
    expect(roomTokens({ windowTokens: 128_000, reserveTokens: 16_384 })).toBe(111_616);
    expect(roomTokens({ windowTokens: 4_000, reserveTokens: 16_384 })).toBe(2_000);
  });
});
