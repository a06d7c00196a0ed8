import { expect, test } from 'vitest';
import { commitOf, shownFields } from '../../../../services/page/log/log-fields.ts';

const time = (at: number) => `the time ${at}`;

test('fields are words, the ids that lines share are told apart, and one that is there twice is shown once', () => {
  const fields = {
    ...{ name: 'natter', pid: 1, service: 'session', member: 'session-1', key: 'agent:main:main', rev: 7 },
    ...{ correlationId: 'r1', causationId: 'r1', traceId: 't1', waitedMs: 5, err: { message: 'gone' } },
  };
  expect(shownFields({ fields }, time).map(({ words, text, isShared }) => [words, text, isShared])).toEqual([
    ['run', 'r1', true],
    ['trace', 't1', true],
    ['waited', '5 ms', false],
    ['err', '{"message":"gone"}', false],
  ]);
  expect(commitOf({ fields })).toEqual({ key: 'agent:main:main', rev: 7 });
  expect(commitOf({ fields: { ...fields, rev: undefined } })).toBeNull();
});

test.each<[name: string, value: unknown, words: string, text: string]>([
  ['uncertainSince', 1_772_600_000_000, 'uncertain since', 'the time 1772600000000'],
  ['notBefore', 1_772_600_000_000, 'not before', 'the time 1772600000000'],
  ['expiresAt', 1_772_600_000_000, 'expires at', 'the time 1772600000000'],
  ['leftUntil', 1_772_600_000_000, 'left until', 'the time 1772600000000'],
  ['at', 1_772_600_000_000, 'at', 'the time 1772600000000'],
  ['at', 'the gate', 'at', 'the gate'],
  ['format', 3, 'format', '3'],
  ['pauseMs', 150_000, 'pause', '3 min'],
  ['delivery', { at: 7, tries: [{ tookMs: 8 }] }, 'delivery', '{"at":"the time 7","tries":[{"tookMs":"8 ms"}]}'],
])('%s %j is read as "%s %s"', (name, value, words, text) => {
  expect(shownFields({ fields: { [name]: value } }, time)).toEqual([{ name, words, text, isShared: false }]);
});
