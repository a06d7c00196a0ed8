import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hash } from '../../../services/page/fold/sha256.ts';

test("the page's SHA-256 is Node's, for any text and across the borders of its blocks (ADR 20)", () => {
  const same = (text: string): void => {
    for (const encoding of ['hex', 'base64url'] as const)
      expect(hash('sha256', text, encoding)).toBe(createHash('sha256').update(text).digest(encoding));
  };
  for (let length = 0; length < 200; length++) same('x'.repeat(length));
  fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), same), { numRuns: 100 });
});
