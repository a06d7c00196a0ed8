import { expect, test } from 'vitest';
import { Steadiness } from '../../../../shared/adapters/mcp/steadiness.ts';

const [second, minute] = [1_000, 60_000];

/** What the last of some connections is believed to be at once, and after a while; each before it lasted for so long. */
const after = (lasted: readonly number[], waited: number): boolean => {
  const steadiness = new Steadiness();
  let at = 0;
  for (const ms of lasted) {
    steadiness.connected(at);
    at += ms;
    steadiness.lost(at);
    at += second;
  }
  steadiness.connected(at);
  return steadiness.isBelieved(at + waited);
};

test.each([
  ['the first connection', [], 0, true],
  ['one after a loss', [second], 4 * second, false],
  ['one after a loss, that lasts', [second], 5 * second, true],
  // It comes up, stays for 8 s, and is lost, again and again.
  ['one that lasts as the second did', [8 * second, 8 * second], 8 * second, false],
  ['one that lasts as all before it did', Array(20).fill(8 * second), 8 * second, false],
  ['one that lasts as all before it did, a minute', Array(5).fill(minute), minute, false],
  ['one that lasts longer at last', Array(20).fill(8 * second), 10 * minute, true],
  ['one after a loss after a day', [second, second, 24 * 60 * minute], 0, true],
] as const)('%s: believed is what it says', (_, lasted, waited, isBelieved) => {
  expect(after(lasted, waited)).toBe(isBelieved);
});
