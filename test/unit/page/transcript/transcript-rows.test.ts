import { describe, expect, test } from 'vitest';
import { generationWords } from '../../../../services/page/parts/reset-words.ts';
import { rowAt, transcriptRows } from '../../../../services/page/transcript/transcript-rows.ts';
import type { LogEntry } from '../../../../shared/client/main.ts';

const commit = (seq: number, at: number, ...events: object[]): LogEntry =>
  ({ seq, rev: seq, at, actor: 'host:one', events }) as unknown as LogEntry;
const opened = (generation: number) => ({ type: 'session_opened', generation });
const reset = (generation: number, more: object) => ({ type: 'session_reset', generation, reason: 'test', ...more });
const call = (callId: string) => ({ type: 'tool_call_started', callId });
const result = (callId: string) => ({ type: 'tool_result', callId });

const rows = transcriptRows([
  commit(3, 1_000, opened(1), { type: 'user_message' }),
  commit(5, 2_000, call('a'), call('b')),
  commit(6, 2_250, result('b')),
  commit(9, 9_000, result('a'), result('unknown')),
  commit(12, 9_000, reset(2, { cause: { trigger: 'daily' } })),
  commit(13, 9_500, reset(3, {})),
  commit(14, 9_500, reset(4, { forkedFrom: { seq: 5, rev: 2, contextSeq: 1, skips: [] } })),
  commit(20, 9_900, opened(5)),
]);

test('each generation has a heading above its first line: why it began', () => {
  const headings = rows.flatMap((row, at) => (row.kind === 'heading' ? [{ ...row, before: rows[at + 1]?.id }] : []));
  expect(headings.map(({ event, before }) => [event.generation, generationWords(event), before])).toEqual([
    [1, 'The session began', '3.0'],
    [2, 'Reset by the daily rule', '12.0'],
    [3, 'Reset: test', '13.0'],
    [4, 'Forked from commit 2', '14.0'],
    [5, 'The session began anew', '20.0'],
  ]);
});

test('the first line of a commit says who recorded it, and those below it do not say so again', () => {
  const first = rows.flatMap((row) => (row.kind === 'line' && row.isFirst ? [row.id] : []));
  expect(first).toEqual(['3.0', '5.0', '6.0', '9.0', '12.0', '13.0', '14.0', '20.0']);
});

test('the result of a call says how long the call ran, whatever came in between', () => {
  const took = rows.flatMap((row) => (row.kind === 'line' && row.event.type === 'tool_result' ? [[row.id, row.tookMs]] : []));
  expect(took).toEqual([
    ['6.0', 250],
    ['9.0', 7_000],
    ['9.1', undefined],
  ]);
});

const fork = (seq: number, more: object = {}) => reset(2, { forkedFrom: { seq, rev: seq, contextSeq: 1, skips: [], ...more } });
const said = { type: 'user_message' };

test.each<[what: string, commits: LogEntry[], left: [id: string, at: number][]]>([
  ['nothing without a fork', [commit(1, 10, said), commit(2, 20, said)], []],
  [
    'what came after the commit that a fork goes on from, with all its events',
    [commit(1, 10, said), commit(2, 20, said, call('a')), commit(3, 30, fork(1)), commit(4, 40, said)],
    [
      ['2.0', 30],
      ['2.1', 30],
    ],
  ],
  [
    'each by its own fork',
    [
      ...[commit(1, 10, said), commit(2, 20, said), commit(3, 30, fork(1)), commit(4, 40, said), commit(5, 50, said)],
      commit(6, 60, fork(4, { skips: [{ after: 1, until: 3 }] })),
    ],
    [
      ['2.0', 30],
      ['5.0', 60],
    ],
  ],
  [
    'nothing that an earlier fork from the same commit did',
    [commit(1, 10, said), commit(2, 20, said), commit(3, 30, fork(1)), commit(4, 40, said), commit(5, 50, fork(1))],
    [
      ['2.0', 30],
      ['3.0', 50],
      ['4.0', 50],
    ],
  ],
  [
    'not what a later fork takes back',
    [commit(1, 10, said), commit(2, 20, said), commit(3, 30, fork(1)), commit(4, 40, fork(2))],
    [['3.0', 40]],
  ],
])('a fork has left behind: %s', (_, commits, expected) => {
  const left = transcriptRows(commits).flatMap((row) =>
    row.kind === 'line' && row.left !== undefined ? [[row.id, row.left.at]] : [],
  );
  expect(left).toEqual(expected);
});

test('what left it behind is named: a fork, an edit of the first message, or a reset before a fork', () => {
  const named = (...commits: LogEntry[]) =>
    transcriptRows(commits).flatMap((row) => (row.kind === 'line' && row.left ? [`${row.id} ${row.left.by}`] : []));
  const restart = commit(3, 30, reset(2, { cause: { trigger: 'api', rule: 'another text' } }));
  expect(named(commit(1, 10, said), commit(2, 20, said), restart, commit(4, 40, said))).toEqual(['1.0 the edit', '2.0 the edit']);
  const ended = commit(3, 30, reset(2, { cause: { trigger: 'daily', rule: 'r' } }));
  expect(named(commit(1, 10, said), commit(2, 20, said), ended, commit(4, 40, said), commit(5, 50, fork(1)))).toEqual([
    ...['2.0 the reset', '3.0 the fork', '4.0 the fork'],
  ]);
});

describe('an address names', () => {
  test.each([
    [3, '3.0'],
    [6, '6.0'],
    [12, '12.0'],
    // A commit of another session, or one that is not there: the last one before it.
    [8, '6.0'],
    [20, '20.0'],
  ])('at %i the line %s', (seq, id) => {
    expect(rows[rowAt(rows, seq) ?? -1]?.id).toBe(id);
  });

  test.each([1, 21])('none of the lines at %i', (seq) => {
    expect(rowAt(rows, seq)).toBeNull();
  });
});
