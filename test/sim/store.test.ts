import { expect, test } from 'vitest';
import { reportOf, runSeeds } from './seeds.ts';
import { simulate } from './simulate.ts';
import { mechanisms } from './world/mechanisms.ts';
import type { SimOptions } from './world/options.ts';

/** What the store under the log may do. Short lives: many more and longer ones are in `npm run test:long`. */
const steps = 100;

test.each<[SimOptions['store'], readonly string[]]>([
  ['damaged', ['commit damaged', 'told damaged', 'damage repaired']],
  ['rolled back', ['log went back']],
  ['lost', ['loss accepted', 'acknowledged and lost']],
])('a few lives on a store that is %s break no invariant (I13, F13)', { timeout: 120_000 }, async (store, happens) => {
  const { failed, table } = await runSeeds(3, 2, { change: { store, steps } });
  expect(failed.map(reportOf).join('\n')).toBe('');
  for (const name of happens) expect(table.get(name), name).toBeGreaterThan(0);
});

/** What is found when a mechanism is missing, within so many seeds. The caches are rarely needed: in one life of twelve. */
const bound = 20;
test.each<[string, RegExp, number?]>([
  ['chain', /^F13 .* stands on rev /],
  ['guard', /^I13 .* was written at /],
  ['comparison', /^I13 .* read \d+ after /],
  ['witness', /^I13 .* was written at /],
  ['acceptance', /^I10 /],
  ['guardedCaches', /^I1 .* told .*damaged|^I4 .* index row/, 45],
  ['givenUpPlaces', /^I13 .* has the sequence /],
])('without the %s the checkers find it broken', { timeout: 120_000 }, async (name, finding, from = 1) => {
  for (let seed = from; seed < from + bound; seed++) {
    const { findings } = await simulate(seed, { steps, ...mechanisms[name] });
    if (findings.some((found) => finding.test(found))) return;
  }
  expect.fail(`nothing was found in ${bound} seeds`);
});
