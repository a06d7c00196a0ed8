import { optionsOf } from '../bench/options.ts';
import { printFailure, printTable, runSeeds } from './seeds.ts';
import { withoutMechanism } from './world/mechanisms.ts';

/** `npm run sim -- --seeds N --from S [--steps 200] [--without fencing]`: runs a range of seeds, prints what went wrong and how often what happened. */
const values = optionsOf('npm run sim --', {
  seeds: { type: 'string', default: '1000' },
  from: { type: 'string', default: '1' },
  steps: { type: 'string', default: '200' },
  failures: { type: 'string', default: '3' },
  /** A mechanism to switch off, to see that it is missed. */
  without: { type: 'string', default: '' },
  /** The store under the log loses or changes commits. */
  damage: { type: 'boolean', default: false },
  /** The log goes back to an older copy for a while. */
  rollback: { type: 'boolean', default: false },
  /** The end of the log is lost, and a person accepts that. */
  loss: { type: 'boolean', default: false },
});

const began = performance.now();
const { failed, runs, table } = await runSeeds(Number(values.from), Number(values.seeds), {
  change: {
    steps: Number(values.steps),
    ...(values.damage && { store: 'damaged' }),
    ...(values.rollback && { store: 'rolled back' }),
    ...(values.loss && { store: 'lost' }),
    ...withoutMechanism(values.without),
  },
  mostFailures: Number(values.failures),
});
for (const run of failed) printFailure(run);
printTable(table, runs);
const seconds = (performance.now() - began) / 1_000;
process.stdout.write(
  `${runs} seeds in ${seconds.toFixed(1)} s: ${((runs * 60) / seconds).toFixed(0)} a minute; ${failed.length} failed\n`,
);
process.exit(failed.length === 0 ? 0 : 1);
