import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { z } from 'zod';
import type { Row } from './table.ts';

/** One run of the benchmarks as a document: what `--json FILE` writes and `--against FILE` reads. */
export const documentSchema = z.object({
  takenAt: z.string(),
  command: z.string(),
  machine: z.object({ processor: z.string(), cores: z.number(), node: z.string() }),
  figures: z.array(
    z.object({
      scenario: z.string(),
      setup: z.string().optional(),
      what: z.string(),
      value: z.number().nullable(),
      unit: z.string(),
      ratio: z.number().optional(),
      goal: z.string().optional(),
    }),
  ),
});
export type BenchDocument = z.infer<typeof documentSchema>;
export type Figure = BenchDocument['figures'][number];

export const figuresOf = (scenario: string, setup: string | undefined, rows: readonly Row[]): Figure[] =>
  rows.map(({ what, value, unit, ratio, atMost, goal = atMost === undefined ? undefined : `at most ${atMost} ${unit}` }) => ({
    ...{ scenario, what, value: Number.isFinite(value) ? value : null, unit },
    ...(setup !== undefined && { setup }),
    ...(ratio !== undefined && { ratio }),
    ...(goal !== undefined && { goal }),
  }));

export const documentOf = (figures: readonly Figure[]): BenchDocument => ({
  takenAt: new Date().toISOString(),
  command: ['npm run bench --', ...process.argv.slice(2)].join(' '),
  machine: { processor: cpus()[0]?.model ?? 'unknown', cores: availableParallelism(), node: process.versions.node },
  figures: [...figures],
});

/** The median of each row over several rounds of one scenario; of two, the lower one. Rows that are not in every round keep what they have. */
export const medianRows = (rounds: readonly (readonly Row[])[]): Row[] =>
  (rounds[0] ?? []).map((row) => {
    const each = rounds.flatMap((rows) => rows.find(({ what }) => what === row.what) ?? []);
    const sorted = each.toSorted((one, other) => one.value - other.value);
    const ratios = each.flatMap(({ ratio }) => ratio ?? []).toSorted((one, other) => one - other);
    const middle = Math.floor((each.length - 1) / 2);
    const ratio = ratios[middle];
    return { ...(sorted[middle] ?? row), ...(ratio !== undefined && { ratio }) };
  });

/** A line for each figure over its limit, or not measured. */
export const overLimit = (scenario: string, rows: readonly Row[]): string[] =>
  rows.flatMap(({ what, value, unit, atMost }) =>
    atMost === undefined || value <= atMost ? [] : [`${scenario}: ${what}: ${value.toFixed(1)} ${unit}, at most ${atMost}`],
  );

/** Throws an error for a file that is no such document. */
export const readDocument = (path: string): BenchDocument => documentSchema.parse(JSON.parse(readFileSync(path, 'utf8')));

/** How much worse a figure may be than before. Runs of one build differ by less. */
const tolerance = 0.1;

/**
 * A line for each ratio that got worse by more than a tenth. Only ratios are compared: both sides of one are of the same run, so that a slower
 * day does not count.
 */
export const worseThan = (before: BenchDocument, now: readonly Figure[]): string[] =>
  now.flatMap((figure) => {
    const old = before.figures.find(
      ({ scenario, setup, what }) => scenario === figure.scenario && setup === figure.setup && what === figure.what,
    );
    if (old?.ratio === undefined || figure.ratio === undefined) return [];
    const isRate = figure.unit.startsWith('/s');
    const isWorse = isRate ? figure.ratio < old.ratio * (1 - tolerance) : figure.ratio > old.ratio * (1 + tolerance);
    if (!isWorse) return [];
    const where = [figure.scenario, figure.setup].filter(Boolean).join(', ');
    return [`${where}: ${figure.what}: × ${old.ratio.toFixed(2)} before, × ${figure.ratio.toFixed(2)} now`];
  });
