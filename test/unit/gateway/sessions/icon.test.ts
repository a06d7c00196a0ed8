import { expect, test } from 'vitest';
import { icon } from '../../../../services/gateway/sessions/icon.ts';

test.each([
  ['🌱', true],
  ['❤', true],
  ['❤️', true],
  ['👍🏽', true],
  ['👩‍👩‍👧‍👦', true],
  ['🇪🇺', true],
  ['1️⃣', true],
  ['', false],
  ['a', false],
  ['1', false],
  ['ä', false],
  ['家', false],
  ['🇪', false],
  ['🌱🌱', false],
  ['🌱 ', false],
  ['a🌱', false],
  [`🌱${'\u0300'.repeat(31)}`, false],
])('B24: the icon of a session is one emoji: %j is one: %s', (text, expected) => {
  expect(icon.safeParse(text).success).toBe(expected);
});
