import { describe, expect, test } from 'vitest';
import { sessionKey, sessionKeyProblem } from '../../../shared/domain/keys/session-key.ts';
import { limits } from '../../../shared/kit/limits.ts';

describe('a session key (A3)', () => {
  test.each([
    ['agent:main:main'],
    ['agent:main:telegram:group:-100123'],
    ['agent:main:whatsapp:group:120363@g.us'],
    ['agent:main:irc:channel:#ubuntu'],
    ['agent:main:matrix:group:!abc:example.org'],
    ['agent:main:web:channel:данные/数据/😀'],
    ['__proto__'],
    ['x'.repeat(limits.sessionKeyBytes)],
  ])('%s is one, byte for byte', (text) => {
    expect(sessionKeyProblem(text)).toBe(null);
    expect(sessionKey.parse(text)).toBe(text);
  });

  test.each([
    ['a star', 'agent:main:*', 'contains "*"'],
    ['a greater-than sign', 'agent:>', 'contains ">"'],
    ['a percent sign', 'agent:%2E', 'contains "%"'],
    ['a space', 'agent:main:my group', 'contains " "'],
    ['a tab', 'agent:\tmain', 'contains "\\t"'],
    ['a line break', 'agent:main\r\n', 'contains "\\r"'],
    ['a no-break space', 'agent:\u00a0', 'contains'],
    ['NUL', 'agent:\0', 'contains "\\u0000"'],
    ['DEL', 'agent:\x7f', 'contains'],
    ['a zero-width character', 'agent:ma\u200bin', 'contains'],
    ['a right-to-left override', 'agent:\u202emain', 'contains'],
    ['a line separator', 'agent:\u2028', 'contains'],
    ['512 characters', 'x'.repeat(512), 'is longer than 256 bytes'],
    ['300 bytes in 100 characters', '数'.repeat(100), 'is longer than 256 bytes'],
    ['half a surrogate pair', 'agent:\ud83d', 'has a broken surrogate pair'],
    ['nothing in it', '', 'is empty'],
    ['an empty first segment', ':main', 'has an empty segment'],
    ['an empty last segment', 'agent:', 'has an empty segment'],
    ['an empty segment within', 'agent::main', 'has an empty segment'],
  ])('one with %s is refused, and the message says why', (_, text, problem) => {
    expect(sessionKeyProblem(text)).toContain(problem);
    expect(sessionKey.safeParse(text).success).toBe(false);
  });
});
