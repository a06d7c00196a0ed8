import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { plainFields } from '../../shared/runtime/skills/plain-lines.ts';
import { runs } from '../support/runs.ts';

const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,12}$/);
/** Much of what means something in YAML, among words. */
const piece = fc.constantFrom(
  ...': |:|# |#| #|a|Ab c|null|true|yes|~|1|1e3|0x1f|-|- |?|&a|*a|!t|"|\'|[|]|{|}|,|%|@|`|>|.|/|\\|\t| |é|https://a.b'.split('|'),
  '|',
);
const text = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
const json = fc
  .dictionary(name, fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 })))
  .map((map) => JSON.stringify(map));
const lines = fc
  .uniqueArray(fc.tuple(name, fc.oneof(text, json, fc.string({ maxLength: 10 }))), { selector: ([key]) => key, maxLength: 4 })
  .map((fields) => fields.map(([key, value]) => `${key}: ${value}`).join('\n'));

test('A15/151: what is read as plain lines is what YAML says', () => {
  let plain = 0;
  fc.assert(
    fc.property(lines, (source) => {
      const fields = plainFields(source);
      if (fields === null) return;
      plain++;
      expect(fields).toEqual(parse(source));
    }),
    { numRuns: runs(3_000) },
  );
  expect(plain).toBeGreaterThan(300);
});
