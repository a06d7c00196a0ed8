/** How many times as often as in the gate each property is tried: `npm run test:long` sets `NATTER_TEST_FACTOR`. */
export const runsFactor = Number(process.env.NATTER_TEST_FACTOR ?? 1);
if (!(runsFactor >= 1)) throw new RangeError('NATTER_TEST_FACTOR must be 1 or more');

/** So many runs of a property in the gate, and more in the long tests. */
export const runs = (inTheGate: number): number => inTheGate * runsFactor;
