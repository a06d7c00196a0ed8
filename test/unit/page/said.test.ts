import { expect, test } from 'vitest';
import { knownMessages, lastSaid, saidIn } from '../../../services/page/past/said.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { ShownState } from '../../../shared/domain/session/fold/evolve.ts';

/** What the agent knew at a moment: only its generation, without what forks left behind. */

const commits = [1, 2, 3, 4, 5, 6].map(
  (seq) => ({ seq, events: [{ type: 'user_message', message: { text: `${seq}` } }] }) as unknown as RecordedCommit,
);
const known = (contextSeq: number, skips: ShownState['position']['skips'], most = 9) => {
  const { lines, hasMore } = lastSaid(commits, 5, { contextSeq, skips } as ShownState['position'], most);
  return [lines.map(({ text }) => text).join(''), hasMore];
};

test.each([
  ['all until the moment, and nothing after it', known(1, []), ['12345', false]],
  ['nothing from before its generation', known(3, []), ['345', false]],
  ['nothing that a fork left behind', known(1, [{ after: 1, until: 3 }]), ['145', false]],
  ['the last lines, and that there are others', known(1, [], 2), ['45', true]],
  ['as many as there are', known(4, [], 2), ['45', false]],
])('%s', (_, found, expected) => {
  expect(found).toEqual(expected);
});

test('how many messages the agent knows in all, without those that a fork left behind', () => {
  expect(knownMessages(commits, 5, { contextSeq: 1, skips: [{ after: 1, until: 3 }] })).toBe(3);
});

test('a line names the files that came with it', () => {
  const message = { text: 'look', attachments: [{ name: 'a.png' }, { name: 'b.txt' }] };
  const commit = { seq: 1, events: [{ type: 'user_message', message }] } as unknown as RecordedCommit;
  expect(saidIn(commit).map(({ text }) => text)).toEqual(['look [Attached: a.png, b.txt]']);
});
