import { describe, expect, test } from 'vitest';
import { pruned } from '../../../../services/session/prompt/prune.ts';
import type { ModelMessage } from '../../../../shared/domain/prompt/model-request.ts';

/** A turn of so many steps, each with one call and a result of so many characters. */
const turnOf = (steps: number, characters: number): ModelMessage[] => [
  { role: 'user', text: 'u'.repeat(20_000) },
  ...Array.from({ length: steps }, (_, index): ModelMessage[] => [
    { role: 'assistant', text: 'a'.repeat(5_000), calls: [{ callId: `c${index}`, tool: 'read', arguments: '{}' }] },
    { role: 'tool', callId: `c${index}`, tool: 'read', outcome: 'ok', text: `${index}`.padEnd(characters, 'x') },
  ]).flat(),
];
const results = (messages: readonly ModelMessage[]) =>
  messages.flatMap((message) => (message.role === 'tool' ? message.text.length : []));

describe('A7/86, B15: old outputs of tools', () => {
  test('are left alone while the conversation is small', () => {
    const messages = turnOf(30, 5_000);
    expect(pruned(messages, { windowTokens: 1_000_000 })).toEqual(messages);
  });

  test('are shortened to their head and tail, with a note of how much is left out', () => {
    const messages = turnOf(12, 6_000);
    const after = pruned(messages, { windowTokens: 80_000 });
    const [first] = after.filter(({ role }) => role === 'tool');
    expect(first?.text).toMatch(/^0x{1499}\n\[… 3000 characters left out …\]\nx{1500}$/);
    expect(results(after).slice(-3)).toEqual([6_000, 6_000, 6_000]);
  });

  test('are left out, oldest first, when that is not enough', () => {
    const after = pruned(turnOf(40, 6_000), { windowTokens: 100_000 });
    const lengths = results(after);
    expect(lengths[0]).toBe('[Old output left out.]'.length);
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
    expect(lengths.slice(-3)).toEqual([6_000, 6_000, 6_000]);
    expect(new Set(lengths).size).toBe(3);
  });

  test('nothing else is touched, and every call keeps its result', () => {
    const messages = turnOf(60, 9_000);
    const after = pruned(messages, { windowTokens: 10_000 });
    const others = (all: readonly ModelMessage[]) =>
      all.map((message) => (message.role === 'tool' ? { ...message, text: '' } : message));
    expect(others(after)).toEqual(others(messages));
  });

  test('what a provider has cached stays valid for several steps', () => {
    const isPrefix = (before: readonly ModelMessage[], after: readonly ModelMessage[]): boolean =>
      before.every((message, index) => JSON.stringify(message) === JSON.stringify(after[index]));
    const steps = Array.from({ length: 60 }, (_, index) => pruned(turnOf(index + 1, 6_000), { windowTokens: 150_000 }));
    const kept = steps.slice(1).filter((after, index) => isPrefix(steps[index] ?? [], after)).length;
    expect(kept).toBeGreaterThanOrEqual(50);
  });

  test('the boundary moves with each step where the window is nearly full', () => {
    const window = { windowTokens: 30_000 };
    const lengths = results(pruned(turnOf(10, 12_000), window));
    expect(lengths.filter((length) => length === 12_000)).toHaveLength(3);
  });
});
