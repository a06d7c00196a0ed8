import { expect, test } from 'vitest';
import { createLog } from '../../../shared/kit/log.ts';
import { RecentLog } from '../../../shared/runtime/recent-log.ts';

const numbers = (lines: readonly { readonly number: number }[]): number[] => lines.map(({ number }) => number);
const all = (): boolean => true;

test('I11: the newest lines are kept, and no more of them or of their characters than is said', () => {
  const recent = new RecentLog();
  for (let line = 1; line <= 2_500; line++) recent.add(`line ${line}`);
  expect(recent.count).toBe(2_500);
  expect(numbers(recent.after(0, 5_000, all))).toEqual(Array.from({ length: 2_000 }, (_, index) => 501 + index));
  for (let line = 0; line < 30; line++) recent.add('x'.repeat(100_000));
  expect(recent.after(0, 5_000, all)).toHaveLength(20);
  recent.add('y'.repeat(3_000_000));
  expect(recent.after(0, 5_000, all)).toEqual([]);
});

test('a page has the newest wanted lines after a number, oldest first', () => {
  const recent = new RecentLog();
  for (const text of ['a 1', 'b 2', 'a 3', 'a 4']) recent.add(text);
  const wanted = (text: string): boolean => text.startsWith('a');
  expect(recent.after(0, 2, wanted)).toEqual([
    { number: 3, text: 'a 3' },
    { number: 4, text: 'a 4' },
  ]);
  expect(numbers(recent.after(3, 9, wanted))).toEqual([4]);
  expect(recent.after(4, 9, wanted)).toEqual([]);
});

test('I12: a line is kept as it was written, without secrets', () => {
  const recent = new RecentLog();
  let written = '';
  const write = (line: string): void => {
    written += line;
  };
  createLog({ level: 'info', name: 'test', secrets: ['my-own-secret'], destination: { write }, recent }).info(
    { key: 'k' },
    'my-own-secret',
  );
  const [line] = recent.after(0, 9, all);
  expect(line?.text).toBe(written);
  expect(written).toContain('[secret]');
  expect(written).not.toContain('my-own-secret');
});
