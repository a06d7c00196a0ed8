import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputKeeper } from '../../../../shared/kit/process/output-keeper.ts';

test('I11: what fits is kept as it is; of more the beginning and the end, and how much is missing, however it was cut', () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n'), maxLength: 60 }), { maxLength: 20 });
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 40 }), (written, half) => {
      const keeper = new OutputKeeper(2 * half);
      for (const piece of written) keeper.add(Buffer.from(piece));
      const whole = written.join('');
      const dropped = whole.length - 2 * half;
      expect(keeper.text()).toBe(
        dropped <= 0 ? whole : `${whole.slice(0, half)}\n[${dropped} bytes are left out here]\n${whole.slice(-half)}`,
      );
    }),
  );
});
