import { expect, test } from 'vitest';
import { allSaid, lastSaid, saidAmong, saidIn } from '../../../services/page/past/said.ts';
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
  ['one more, where it is the only other', known(3, [], 2), ['345', false]],
])('%s', (_, found, expected) => {
  expect(found).toEqual(expected);
});

test('how many messages the agent knows in all, without those that a fork left behind', () => {
  expect(allSaid(commits, 5, { contextSeq: 1, skips: [{ after: 1, until: 3 }] })).toHaveLength(3);
});

test('a line names the files that came with it', () => {
  const message = { text: 'look', attachments: [{ name: 'a.png' }, { name: 'b.txt' }] };
  const commit = { seq: 1, events: [{ type: 'user_message', message }] } as unknown as RecordedCommit;
  expect(saidIn(commit).map(({ text }) => text)).toEqual(['look [Attached: a.png, b.txt]']);
});

type Event = readonly [type: string, of?: string, more?: object];
/** Commits, each with its events: a message and its turn have the same id. */
const story = (...told: (readonly Event[])[]) =>
  told.map((events, at) => ({
    seq: at + 1,
    events: events.map(([type, of, more]) => ({
      ...{ type, turn: { id: of }, turnId: of, runId: of, turnIds: [of], text: of, message: { text: of } },
      ...more,
    })),
  })) as unknown as RecordedCommit[];
const [posted, started, answered] = ['user_message', 'turn_started', 'assistant_message'];
const reset = { keepsQueue: true, turnId: undefined };

test.each([
  [
    'is known as soon as its answer starts',
    [
      [
        [posted, 'a'],
        [started, 'a'],
      ],
    ],
    ['a'],
  ],
  [
    'is not known while it waits',
    [
      [
        [posted, 'a'],
        [started, 'a'],
      ],
      [[posted, 'b']],
    ],
    ['a'],
  ],
  [
    'is known, and stands, below the answer that it waited for',
    [
      [[posted, 'a']],
      [
        [answered, 'x'],
        [started, 'a'],
      ],
    ],
    ['x', 'a'],
  ],
  [
    'stands where it was taken up first',
    [[[posted, 'a']], [[started, 'a']], [[answered, 'x']], [[started, 'a', { attempt: 2 }]]],
    ['a', 'x'],
  ],
  ['is not known if a stop dropped it, or it was taken back', [[[posted, 'a']], [['queue_cleared', 'a']]], []],
  ['is known once it joins a turn', [[[posted, 'a']], [['turn_joined', 't', { runId: 'a' }]]], ['a']],
  ['is known once a turn answers it too', [[[posted, 'a']], [[started, 't', { merged: [{ id: 'a' }] }]]], ['a']],
  ['is known at once if it asks for no turn', [[[posted, 'a', { turnId: undefined }]]], ['a']],
  [
    'is known after a reset that kept it in the queue, without what was known before',
    [
      [
        [posted, 'a'],
        [started, 'a'],
      ],
      [[posted, 'b']],
      [
        ['session_reset', 's', reset],
        [started, 'b'],
      ],
    ],
    ['b'],
  ],
] as const)('a message %s', (_, told, expected) => {
  const history = story(...told);
  const position = { contextSeq: 1, skips: [] };
  expect(lastSaid(history, history.length, position, 9).lines.map(({ text }) => text.trim())).toEqual(expected);
  expect(allSaid(history, history.length, position)).toHaveLength(expected.length);
});

test('a message whose answer started only in what a fork left behind is not known', () => {
  const history = story([[posted, 'a', {}]], [[started, 'a']], [['session_reset', 's', { forkedFrom: {} }]]);
  expect(allSaid(history, 3, { contextSeq: 1, skips: [{ after: 1, until: 3 }] })).toEqual([]);
});

test('after a deletion nothing is known that was said before', () => {
  const history = story([[posted, 'a', {}]], [[started, 'a']], [['session_deleted', 's', {}]]);
  const position = { contextSeq: 1, skips: [] };
  expect([2, 3].map((place) => allSaid(history, place, position).length)).toEqual([1, 0]);
});

const edit = { of: '1.0', text: 'edited', by: {} };
const textsAt = (history: RecordedCommit[], place: number, skips: ShownState['position']['skips'] = []) =>
  allSaid(history, place, { contextSeq: 1, skips }).map(({ text }) => text);

test('a message is known as it was last edited at that moment, and a withdrawn one as the model sees it', () => {
  const history = story(
    [
      [posted, 'a'],
      [started, 'a'],
    ],
    [['message_edited', 'a', edit]],
    [['message_edited', 'a', { ...edit, text: 'edited again' }]],
    [['message_withdrawn', 'a', edit]],
  );
  expect([1, 2, 3, 4].map((place) => textsAt(history, place))).toEqual([
    ['a'],
    ['edited'],
    ['edited again'],
    ['[The sender withdrew this message.]'],
  ]);
  // An edit that a fork left behind is none.
  expect(textsAt(history, 4, [{ after: 1, until: 5 }])).toEqual(['a']);
});

test('what was said among some commits is as it was last edited, without what was taken back', () => {
  const history = story(
    [
      [posted, 'a'],
      [started, 'a'],
    ],
    [[posted, 'b']],
    [['queue_cleared', 'b']],
    [['message_edited', 'a', edit]],
  );
  expect(saidAmong(history).map(({ text }) => text)).toEqual(['edited']);
  expect(saidAmong(history.slice(0, 2)).map(({ text }) => text.trim())).toEqual(['a', 'b']);
});
