import { seededRandom } from '../../shared/adapters/in-memory/faults.ts';

/** Chance that is the same for the same seed. */
export interface Random {
  /** From 0 to 1. */
  next(): number;
  /** True in this share of the cases. */
  chance(share: number): boolean;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  pick<T>(items: readonly T[]): T;
  /** One of the names, by weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name;
}

export const randomOf = (seed: number): Random => {
  const next = seededRandom(seed);
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    chance: (share) => next() < share,
    pick: (items) => items[between(0, items.length - 1)] as (typeof items)[number],
    weighted: (weights) => {
      const entries = Object.entries<number>(weights) as [keyof typeof weights, number][];
      let rest = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        if (rest < weight) return name;
        rest -= weight;
      }
      return (entries.at(-1) as (typeof entries)[number])[0];
    },
  };
};
