import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { documentSchema, type Figure } from './document.ts';

/** All recorded runs, oldest first: `docs/develop/benchmarks.json`, from which the tables of `benchmarks.md` beside it are made. */
const historySchema = z.array(documentSchema.extend({ name: z.string() }));
export type History = z.infer<typeof historySchema>;
type Run = History[number];

const [begin, end] = ['<!-- Begin of the figures: made by `npm run bench -- --record NAME`. -->', '<!-- End of the figures. -->'];
/** Runs that a table shows, the newest first. */
const shownRuns = 4;

/** `from`: the folder `docs/develop`. */
export const readHistory = (from: URL): History =>
  historySchema.parse(JSON.parse(readFileSync(new URL('benchmarks.json', from), 'utf8')));

export const readPage = (from: URL): string => readFileSync(new URL('benchmarks.md', from), 'utf8');

/** Adds a run, or replaces the one of that name, and writes the tables again. */
export const record = (run: Run, to: URL): void => {
  const history = [...readHistory(to).filter(({ name }) => name !== run.name), run];
  writeFileSync(new URL('benchmarks.json', to), `${JSON.stringify(history, null, 2)}\n`);
  writeFileSync(new URL('benchmarks.md', to), withTables(readPage(to), history));
};

/** The page with its tables made anew. Throws a `RangeError` if it has no place for them. */
export const withTables = (page: string, history: History): string => {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError('the page has no place for the figures');
  return `${page.slice(0, from + begin.length)}\n\n${tablesOf(history)}\n\n${page.slice(to)}`;
};

const tablesOf = (history: History): string => {
  const titles = new Set(history.toReversed().flatMap(({ figures }) => figures.map(titleOf)));
  return [...titles].map((title) => tableOf(title, history)).join('\n\n');
};

const titleOf = ({ scenario, setup }: Figure): string => (setup === undefined ? scenario : `${scenario}, ${setup}`);

const tableOf = (title: string, history: History): string => {
  const runs = history
    .toReversed()
    .map(({ name, figures }) => ({ name, figures: figures.filter((figure) => titleOf(figure) === title) }))
    .filter(({ figures }) => figures.length > 0)
    .slice(0, shownRuns);
  const newest = runs[0]?.figures ?? [];
  const older = runs.slice(1).flatMap(({ figures }) => figures);
  const names = new Set([...newest, ...older].map(({ what }) => what));
  const rows = [...names].map((what) => {
    const each = runs.map(({ figures }) => figures.find((figure) => figure.what === what));
    return [what, newest.find((figure) => figure.what === what)?.goal ?? '', ...each.map(cellOf)];
  });
  const lines = [['figure', 'goal', ...runs.map(({ name }) => name)], runs.map(() => '---').concat('---', '---'), ...rows];
  return `### ${title}\n\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}`;
};

const cellOf = (figure: Figure | undefined): string => {
  if (figure === undefined) return '';
  if (figure.value === null) return 'not measured';
  const ratio = figure.ratio === undefined || figure.ratio === 1 ? '' : ` (× ${round(figure.ratio)})`;
  return `${round(figure.value)} ${figure.unit}${ratio}`;
};

const round = (value: number): string => {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value >= 10 ? 1 : 2);
};
