import { describe, expect, test } from 'vitest';
import { type Key, LineEditor } from '../../../../services/cli/chat/line-editor.ts';

const named = (name: string): Key => {
  const parts = name.split('-');
  return { name: parts.at(-1), ctrl: parts.includes('ctrl'), meta: parts.includes('alt') };
};
/** Keys by name in `<…>`, everything else as typed. */
const keysIn = (script: string): Key[] =>
  (script.match(/<[a-z-]+>|./gsu) ?? []).map((part) =>
    part === '<paste>'
      ? { name: 'paste-start' }
      : part === '<pasted>'
        ? { name: 'paste-end' }
        : part.length > 1 && part.startsWith('<')
          ? named(part.slice(1, -1))
          : { text: part },
  );
const typed = (...scripts: string[]): { shown: string; lines: string[] } => {
  const editor = new LineEditor(['/status', '/stop', '/new']);
  const lines = scripts
    .flatMap(keysIn)
    .map((key) => editor.press(key))
    .flatMap((pressed) => (pressed.type === 'line' ? [pressed.text] : []));
  return { shown: `${editor.text.slice(0, editor.cursor)}|${editor.text.slice(editor.cursor)}`, lines };
};

test.each([
  ['what is typed', 'hello', 'hello|'],
  ['typing in the middle', 'helo<left>l', 'hell|o'],
  ['beginning and end', 'b<home>a<end>c', 'abc|'],
  ['the same with Ctrl', 'b<ctrl-a>a<ctrl-e>c', 'abc|'],
  ['taking away', 'abc<backspace><left><delete>', 'a|'],
  ['a character of several code points at once', 'a👩‍👩‍👧<backspace>', 'a|'],
  ['words', 'one two three<alt-b><alt-b>X', 'one X|two three'],
  ['taking away a word', 'one two <ctrl-w>', 'one |'],
  ['taking away what is before and behind', 'one two<alt-b><ctrl-u>', '|two'],
  ['the rest of the line', 'one two<alt-b><ctrl-k>', 'one |'],
  ['Alt-Enter begins a new line', 'one<alt-return>two', 'one\ntwo|'],
  ['up and down in several lines', 'one<alt-return>two<up>X<down>Y', 'oneX\ntwo|'.replace('two|', 'twoY|')],
  ['an empty first line', '<alt-return>b<up><home>a', 'a|\nb'],
  ['taking away a line feed', 'a<alt-return>b<left><backspace>', 'a|b'],
  ['a paste of several lines', '<paste>one<return>two<pasted>', 'one\ntwo|'],
  ['Tab completes a command', '/ne<tab>', '/new |'],
  ['… as far as it is certain', '/s<tab>', '/st|'],
  ['… and leaves text alone', 'st<tab>', 'st|'],
  ['Ctrl-Z and Ctrl-R do nothing', 'a<ctrl-z><ctrl-r>b', 'ab|'],
  ['control characters type nothing', 'a\u0007\u001bb', 'ab|'],
])('%s', (_, script, shown) => expect(typed(script)).toEqual({ shown, lines: [] }));

test('a paste is one message when Enter follows it, and control characters in it are gone', () => {
  expect(typed('<paste>one<return>\u001b[31mtwo<pasted><return>')).toEqual({ shown: '|', lines: ['one\n[31mtwo'] });
});

describe('history', () => {
  test('up brings lines back, and down what was being typed', () => {
    expect(typed('one<return>two<return>dra<up><up>').shown).toBe('one|');
    expect(typed('one<return>two<return>dra<up><up><down><down>').shown).toBe('dra|');
    expect(typed('one<return><up>!<return>')).toEqual({ shown: '|', lines: ['one', 'one!'] });
  });
  test('up goes on to the entry before one of several lines; once the cursor has moved, up moves in its lines first', () => {
    const written = 'one<return>two<alt-return>lines<return>';
    expect(typed(`${written}<up>`).shown).toBe('two\nlines|');
    expect(typed(`${written}<up><up>`).shown).toBe('one|');
    expect(typed(`${written}<up><up><down>`).shown).toBe('two\nlines|');
    expect(typed(`${written}<up><left><up>`).shown).toBe('two|\nlines');
    expect(typed(`${written}<up><left><up><up>`).shown).toBe('one|');
    expect(typed(`a<alt-return>b<return><up><up>`).shown).toBe('a|\nb');
  });
  test('the same line twice is once in it, an empty one never', () => {
    expect(typed('a<return>b<return>b<return><return><up><up>').shown).toBe('a|');
  });
});

test('Tab names the words that fit, where they go on differently', () => {
  const editor = new LineEditor(['/status', '/stop', '/new']);
  for (const key of keysIn('/s<tab>')) editor.press(key);
  expect(editor.press(named('tab'))).toEqual({ type: 'choices', words: ['/status', '/stop'] });
});

test('keys that are for the chat', () => {
  const editor = new LineEditor();
  const typeOf = (key: string) => editor.press(named(key)).type;
  expect([typeOf('ctrl-c'), typeOf('ctrl-l'), typeOf('ctrl-d')]).toEqual(['interrupt', 'clear', 'end']);
  editor.press({ text: 'a' });
  expect([typeOf('home'), typeOf('ctrl-d'), editor.text]).toEqual(['changed', 'changed', '']);
});
