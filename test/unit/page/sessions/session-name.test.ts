import { expect, test } from 'vitest';
import { foundKeyOf } from '../../../../services/page/sessions/session-name.ts';
import type { SessionRow } from '../../../../shared/client/main.ts';

const row = (key: string, displayName?: string, shownKey = key): SessionRow =>
  ({ key, shownKey, settings: { displayName }, origin: {}, description: '' }) as unknown as SessionRow;
const ann = row('agent:main:main', 'Ann', 'main');

test.each([
  ['main', 'main'],
  ['MAI', 'main'],
  ['ann', null],
  ['agent', null],
  ['', null],
])('found by "%s", a row whose name is another shows its key: %s', (words, expected) => {
  expect(foundKeyOf(ann, words)).toBe(expected);
});
