import { expect, test } from 'vitest';
import { commitOf, shownFields } from '../../../../services/page/log/log-fields.ts';

test('fields are words, the ids that lines share are told apart, and one that is there twice is shown once', () => {
  const fields = {
    ...{ name: 'natter', pid: 1, service: 'session', member: 'session-1', key: 'agent:main:main', rev: 7 },
    ...{ correlationId: 'r1', causationId: 'r1', traceId: 't1', waitedMs: 5, err: { message: 'gone' } },
  };
  expect(shownFields({ fields }).map(({ words, text, isShared }) => [words, text, isShared])).toEqual([
    ['run', 'r1', true],
    ['trace', 't1', true],
    ['waited ms', '5', false],
    ['err', '{"message":"gone"}', false],
  ]);
  expect(commitOf({ fields })).toEqual({ key: 'agent:main:main', rev: 7 });
  expect(commitOf({ fields: { ...fields, rev: undefined } })).toBeNull();
});
