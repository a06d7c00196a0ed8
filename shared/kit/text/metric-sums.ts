/**
 * The sum of each metric's series in Prometheus text. A name with a label (`natter_queue_messages queue="commands"`) is summed apart.
 */
export const metricSums = (text: string): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>();
  const add = (name: string, value: number): void => {
    sums.set(name, (sums.get(name) ?? 0) + value);
  };
  for (const line of text.split('\n')) {
    const [, name, labels = '', number] = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? [];
    const value = Number(number);
    if (name === undefined || !Number.isFinite(value)) continue;
    add(name, value);
    for (const [label] of labels.matchAll(/[a-z_]+="(?:[^"\\]|\\.)*"/gi)) add(`${name} ${label}`, value);
  }
  return sums;
};
