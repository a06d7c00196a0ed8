import { expect, test } from 'vitest';
import { nameOfKey } from '../../../services/page/sessions/session-name.ts';
import type { SessionRow } from '../../../shared/client/main.ts';

const key = 'agent:main:dm:bob';
const row = { key, shownKey: key, settings: { displayName: 'Bob' }, origin: {} } as unknown as SessionRow;

test.each([
  ['the name in its row, if the list has it', [row], 'Bob'],
  ['its key without the agent, if it does not', [{ ...row, key: 'agent:main:dm:ann' }], 'dm:bob'],
  ['the same while there is no list', null, 'dm:bob'],
])('a session of which only the key is known has %s', (_, rows, expected) => {
  expect(nameOfKey(key, rows)).toBe(expected);
});
