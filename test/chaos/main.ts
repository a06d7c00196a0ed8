import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorMessage } from '../../shared/kit/errors.ts';
import { optionsOf } from '../bench/options.ts';
import { connectors } from './connectors/main.ts';
import { deliveries } from './deliveries.ts';
import { powerCuts } from './power-cut/main.ts';
import { lineOf, totalsOf } from './report.ts';
import { type RunReport, type RunResult, run } from './run.ts';
import { scenarios } from './scenarios.ts';
import { type Setup, setups } from './system.ts';

/**
 * `npm run chaos -- [--scenario host-kill,zombie] [--setup r1,r3] [--runs 5] [--seed N] [--rate 150] [--keys 160] [--max-ack-pending 1]`:
 * real servers, real session hosts, real kills, and a check of everything that is left (`docs/develop/chaos.md`). Ends with 1 when anything was
 * lost, doubled, reordered or torn, or when a fault did not show what it is for. `--out FILE` keeps the reports as JSON lines,
 * `--keep` the history of every run and not only of a bad one. `npm run chaos -- connectors`, `-- deliveries` and `-- power-cut` are
 * suites of their own.
 */
if (process.argv[2] === 'connectors') process.exit(await connectors(process.argv.slice(3)));
if (process.argv[2] === 'deliveries') process.exit(await deliveries(process.argv.slice(3)));
if (process.argv[2] === 'power-cut') process.exit(await powerCuts(process.argv.slice(3)));

const values = optionsOf('npm run chaos --', {
  scenario: { type: 'string', default: Object.keys(scenarios).join() },
  setup: { type: 'string', default: Object.keys(setups).join() },
  runs: { type: 'string', default: '5' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  rate: { type: 'string', default: '150' },
  keys: { type: 'string', default: '160' },
  hosts: { type: 'string', default: '2' },
  'max-ack-pending': { type: 'string', default: '1' },
  out: { type: 'string' },
  keep: { type: 'boolean', default: false },
});
const chosen = values.setup.split(',') as Setup[];
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Where the whole history of a bad run is kept: what was sent, then the log; and beside it what the servers said. */
const keep = (name: string, { aftermath, serverLogs }: RunResult): string => {
  const path = join(tmpdir(), `natter-chaos-${name}`);
  writeFileSync(`${path}.jsonl`, [...aftermath.commands, ...aftermath.commits].map((entry) => JSON.stringify(entry)).join('\n'));
  serverLogs.forEach((lines, index) => {
    writeFileSync(`${path}.server-${index}.log`, lines.join('\n'));
  });
  return `${path}.jsonl`;
};

/** Worth a closer look, bad or not. */
const isOdd = ({ violations, faults }: RunReport): boolean =>
  violations.length > 0 || faults.some(({ pauseMs }) => pauseMs > 20_000);

const oneRun = async (name: string, setup: Setup, seed: number): Promise<RunReport | null> => {
  const scenario = scenarios[name];
  if (scenario === undefined) throw new Error(`no scenario "${name}"; there are: ${Object.keys(scenarios).join(', ')}`);
  const settings = {
    keys: Number(values.keys),
    commandsPerSecond: Number(values.rate),
    hosts: Number(values.hosts),
    maxAckPending: Number(values['max-ack-pending']),
  };
  try {
    const result = await run({ ...settings, scenario, setup, seed, beforeMs: 2_000, afterMs: 3_000 });
    const { report } = result;
    say(lineOf(report));
    if (values.keep || isOdd(report)) say(`    the history is in ${keep(`${name}-${setup}-${seed}`, result)}`);
    if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify({ name, ...report })}\n`, { flag: 'a' });
    return report;
  } catch (error) {
    say(`  seed ${seed}: the run itself failed: ${errorMessage(error)}`);
    return null;
  }
};

let bad = 0;
for (const name of values.scenario.split(',')) {
  for (const setup of chosen.filter((one) => scenarios[name]?.setups.includes(one) ?? true)) {
    say(`\n${name} (${setup}): ${scenarios[name]?.title ?? 'unknown'}`);
    const reports: RunReport[] = [];
    for (let number = 0; number < Number(values.runs); number++) {
      const report = await oneRun(name, setup, Number(values.seed) + number);
      if (report === null || report.violations.length > 0 || report.missed.length > 0) bad += 1;
      if (report !== null) reports.push(report);
    }
    say(totalsOf(reports));
  }
}
say(bad === 0 ? '\nnothing was lost, doubled, reordered or torn' : `\n${bad} runs are not as they should be`);
process.exit(bad === 0 ? 0 : 1);
