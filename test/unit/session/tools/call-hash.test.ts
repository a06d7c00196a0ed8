import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomApprovalId } from '../../../../services/session/host/approval-id.ts';
import { callHash, parseArguments } from '../../../../services/session/turn/call-hash.ts';

describe('the hash of a call (I7)', () => {
  test('does not change with the order of the names, and with everything else', () => {
    const hash = callHash('mail', { to: 'bob', cc: [1, 2] });
    expect(callHash('mail', { cc: [1, 2], to: 'bob' })).toBe(hash);
    const others: [string, object][] = [
      ['mails', { to: 'bob', cc: [1, 2] }],
      ['mail', { to: 'eve', cc: [1, 2] }],
      ['mail', { to: 'bob', cc: [2, 1] }],
      ['mail', { to: 'bob', cc: ['1', 2] }],
      ['mail', { to: 'bob', cc: [1, 2], bcc: null }],
      ['mail', { to: 'bob', cc: [1, 2.0000000000000004] }],
      ['mail', JSON.parse('{"to":"bob","cc":[1,2],"__proto__":{}}')],
    ];
    expect(callHash('mail', { cents: -0 })).not.toBe(callHash('mail', { cents: 0 }));
    for (const [tool, given] of others) expect(callHash(tool, given)).not.toBe(hash);
  });

  test('is the same for the same arguments and for no others', () => {
    const given = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }));
    const read = (value: object): object => {
      const parsed = parseArguments(JSON.stringify(value));
      return 'value' in parsed ? parsed.value : {};
    };
    fc.assert(
      fc.property(given, given, (one, other) => {
        const [first, second] = [read(one), read(other)];
        expect(callHash('tool', first) === callHash('tool', second)).toBe(isDeepStrictEqual(first, second));
      }),
    );
  });
});

describe('the arguments of a call', () => {
  test.each(['', '  ', '{}'])('%j is none', (text) => expect(parseArguments(text)).toEqual({ value: {} }));
  test.each(['null', '[]', '"a"', '7', '{', '{"a":1}}', '{"a":-1e400}'])('%j is a problem', (text) =>
    expect(parseArguments(text)).toEqual({ problem: expect.any(String) }),
  );
});

test('A5/62: the id of an approval is eight letters and digits that are hard to confuse', () => {
  const ids = Array.from({ length: 2_000 }, randomApprovalId);
  for (const id of ids) expect(id).toMatch(/^[a-km-np-z2-9]{8}$/);
  expect(new Set(ids).size).toBe(2_000);
  expect(new Set(ids.join('')).size).toBe(32);
});
