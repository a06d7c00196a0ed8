import { expect, test } from 'vitest';
import { besideKey, opensPalette, PressedKeys, shortcuts } from '../../../services/page/shortcuts/keys.ts';

/** The keys of the whole page, put together to what they ask for. */

const nothing = { ctrlKey: false, metaKey: false, altKey: false, isComposing: false, repeat: false, defaultPrevented: false };
const pressed = (
  ...presses: readonly (
    | string
    | { readonly key: string; readonly ctrlKey?: boolean; readonly repeat?: boolean; readonly at?: number }
  )[]
) => {
  const keys = new PressedKeys();
  return presses.map((press) => {
    const { at = 0, ...given } = typeof press === 'string' ? { key: press } : press;
    return keys.take({ ...nothing, ...given }, at);
  });
};

test('each shortcut does what the list of them says', () => {
  for (const { keys, does } of shortcuts) expect(pressed(...keys.split(' ')).at(-1), keys).toBe(does);
});

test.each([
  ['a key of its own', ['x'], [null]],
  ['the second of two keys alone', ['a'], [null]],
  ['two keys with another between them', ['g', 'x', 'a'], [null, null, null]],
  ['two keys with Shift between them', ['g', 'Shift', 'a'], [null, null, 'approvals']],
  ['the first key twice', ['g', 'g', 'a'], [null, null, 'approvals']],
  ['a key of the browser', [{ key: 'k', ctrlKey: true }, 'k'], [null, 'previous']],
  ['an answer by one press', ['y'], [null]],
  ['an answer by two', ['y', 'y', 'n', 'n'], [null, 'allow', null, 'deny']],
  ['an answer by a key that is held down', ['y', { key: 'y', repeat: true }, { key: 'y', repeat: true }], [null, null, null]],
  ['the way to the system, too slow', ['g', { key: 'y', at: 2_000 }], [null, null]],
  ['an answer, too slow', ['n', { key: 'n', at: 2_000 }], [null, null]],
  ['the second key too late', ['g', { key: 'a', at: 2_000 }], [null, null]],
])('%s', (_, presses, expected) => {
  expect(pressed(...presses)).toEqual(expected);
});

test.each([
  ['b', 1, 'c'],
  ['b', -1, 'a'],
  ['c', 1, undefined],
  ['a', -1, undefined],
  [undefined, 1, 'a'],
  ['hidden by the filter', 1, 'a'],
] as const)('beside %s by %i is %s', (open, step, expected) => {
  expect(besideKey(['a', 'b', 'c'], open, step)).toBe(expected);
});

test.each([
  ['Ctrl K', { key: 'k', ctrlKey: true }, [true, false]],
  ['Ctrl K with capitals on', { key: 'K', ctrlKey: true }, [true, false]],
  ['⌘ K', { key: 'k', metaKey: true }, [false, true]],
  ['k', { key: 'k' }, [false, false]],
  ['Ctrl Alt K', { key: 'k', ctrlKey: true, altKey: true }, [false, false]],
  ['Ctrl J', { key: 'j', ctrlKey: true }, [false, false]],
] as const)('the palette and %s: on other computers, on a Mac', (_, press, expected) => {
  expect([false, true].map((isMac) => opensPalette({ ...nothing, ...press }, isMac))).toEqual(expected);
});
