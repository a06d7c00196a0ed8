import { writeFileSync } from 'node:fs';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { optionsOf } from '../../bench/options.ts';
import { type CutOptions, type CutReport, cutPower, type PowerSetup, type Since } from './cut.ts';
import { isFileSystem, whyNotHere } from './disk.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const lineOf = ({ options, acknowledged, leftOut, readyMs, violations }: CutReport): string => {
  const { fileSystem, setup, since, afterMs } = options;
  const cells = [fileSystem, setup, `${afterMs / 1_000} s after the ${since}`, acknowledged, leftOut];
  return `| ${[...cells, `${(readyMs / 1_000).toFixed(1)} s`, violations.length].join(' | ')} |`;
};

const oneCut = async (options: CutOptions, out: string | undefined): Promise<boolean> => {
  try {
    const report = await cutPower(options);
    say(lineOf(report));
    for (const violation of report.violations.slice(0, 20)) say(`    VIOLATION: ${violation}`);
    if (out !== undefined) writeFileSync(out, `${JSON.stringify(report)}\n`, { flag: 'a' });
    return report.violations.length === 0;
  } catch (error) {
    const { fileSystem, setup, since, afterMs } = options;
    say(`| ${fileSystem} | ${setup} | ${afterMs / 1_000} s after the ${since} | FAILED: ${errorMessage(error)} |`);
    return false;
  }
};

/**
 * `npm run chaos -- power-cut [--file-system ext4,xfs] [--setup r1,r3] [--since start,change,command] [--after 1,5,15,60]
 * [--senders 16]`: everything on disks of their own, which lose their power under load (docs/develop/chaos.md). Needs root. Resolves with the exit code: 1 when
 * something acknowledged was lost, doubled or left unanswered, when the system did not come back by itself, or when nothing could be tried.
 */
export const powerCuts = async (given: readonly string[]): Promise<number> => {
  const values = optionsOf(
    'npm run chaos -- power-cut',
    {
      'file-system': { type: 'string', default: 'ext4,xfs' },
      setup: { type: 'string', default: 'r1,r3' },
      since: { type: 'string', default: 'start,change' },
      after: { type: 'string', default: '1,5,15,60' },
      senders: { type: 'string', default: '16' },
      out: { type: 'string' },
    },
    given,
  );
  const results: boolean[] = [];
  say(
    '| file system | setup | cut | acknowledged | streams left out | ready again after | violations |\n|---|---|---|---|---|---|---|',
  );
  for (const fileSystem of values['file-system'].split(',').filter(isFileSystem)) {
    const problem = await whyNotHere(fileSystem);
    if (problem !== null) say(`SKIPPED: power cuts on ${fileSystem}: ${problem}`);
    else
      for (const setup of values.setup.split(',') as PowerSetup[])
        for (const since of values.since.split(',') as Since[])
          for (const seconds of values.after.split(',')) {
            const options = { fileSystem, setup, since, afterMs: Number(seconds) * 1_000, senders: Number(values.senders) };
            results.push(await oneCut(options, values.out));
          }
  }
  const bad = results.filter((good) => !good).length;
  if (results.length === 0) say('\nNOTHING WAS TRIED');
  else if (bad > 0) say(`\n${bad} of ${results.length} cuts are not as they should be`);
  else
    say(`\n${results.length} cuts: nothing acknowledged was lost, doubled or left unanswered, and all was ready again by itself`);
  return results.length > 0 && bad === 0 ? 0 : 1;
};
