import { type Run, simulate } from './simulate.ts';
import type { SimOptions } from './world/options.ts';

export interface SeedsResult {
  readonly runs: number;
  /** Runs in which something was wrong. */
  readonly failed: readonly Run[];
  /** Seeds in which each thing happened. */
  readonly table: ReadonlyMap<string, number>;
}

/** Runs seeds one after the other until so many have failed. */
export const runSeeds = async (
  from: number,
  count: number,
  { change = {}, mostFailures = 1 }: { change?: Partial<SimOptions>; mostFailures?: number } = {},
): Promise<SeedsResult> => {
  const failed: Run[] = [];
  const table = new Map<string, number>();
  let runs = 0;
  for (let seed = from; seed < from + count && failed.length < mostFailures; seed++) {
    const run = await simulate(seed, change);
    runs++;
    if (run.findings.length > 0) failed.push(run);
    for (const [name, times] of Object.entries(run.sometimes)) table.set(name, (table.get(name) ?? 0) + (times > 0 ? 1 : 0));
    // The test runner and the terminal want to live, too.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { runs, failed, table };
};

const storeFlags: Readonly<Record<SimOptions['store'], string>> = {
  sound: '',
  damaged: ' --damage',
  'rolled back': ' --rollback',
  lost: ' --loss',
};

/** What somebody needs who wants to find the reason. */
export const reportOf = ({ options, findings, trace }: Run): string =>
  [
    `seed ${options.seed} failed:`,
    ...findings.slice(0, 20).map((finding) => `  ${finding}`),
    `options: ${JSON.stringify(options)}`,
    'the last events:',
    ...trace.slice(-80).map((line) => `  ${line}`),
    `run just this seed: npm run sim -- --from ${options.seed} --seeds 1 --steps ${options.steps}${storeFlags[options.store]}`,
    '',
  ].join('\n');
export const printFailure = (run: Run): void => void process.stdout.write(reportOf(run));

export const printTable = (table: ReadonlyMap<string, number>, runs: number): void => {
  for (const [name, seeds] of [...table].sort(([, one], [, other]) => one - other))
    process.stdout.write(`  ${name.padEnd(28)} ${((100 * seeds) / runs).toFixed(1).padStart(5)} % of seeds\n`);
};
