/**
 * One figure. `ratio` compares with the yardstick of the same run; `goal` is what the ratio or value should reach. Over `atMost`, which is a
 * goal too, the run fails.
 */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly ratio?: number;
  readonly goal?: string;
  readonly atMost?: number;
  readonly note?: string;
}

const figure = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : value >= 10 ? value.toFixed(1) : value.toFixed(2);

export const printTable = (title: string, rows: readonly Row[]): void => {
  const cells = rows.map(({ what, value, unit, ratio, goal, atMost, note }) => [
    what,
    `${figure(value)} ${unit}`,
    ratio === undefined ? '' : `× ${ratio.toFixed(2)}`,
    [goal && `goal ${goal}`, atMost !== undefined && `at most ${atMost}`, note].filter(Boolean).join('; '),
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  process.stdout.write(`\n${title}\n`);
  for (const row of cells)
    process.stdout.write(
      `  ${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
};
