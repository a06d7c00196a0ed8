import { z } from 'zod';
import { limits } from '../../../kit/limits.ts';

/**
 * The place of a message in its conversation, as the platform counts: `number` rises within `source`, which stands for the channel, account,
 * conversation and thread. It recognises a repeat after any time (D9).
 */
export const messageOrder = z.object({ source: z.string().min(1).max(32), number: z.string().regex(/^(0|[1-9][0-9]{0,19})$/) });
export type MessageOrder = z.infer<typeof messageOrder>;

/** The highest numbers of one source, rising, with a blank between them; at most `limits.orderWindow`. */
export interface OrderWindow {
  readonly source: string;
  readonly numbers: string;
}

/** `known`: the number has been seen. `below`: it is lower than all of a full window, so it may have been. */
export type OrderStanding = 'new' | 'known' | 'below';

export const standingOf = (windows: readonly OrderWindow[], { source, number }: MessageOrder): OrderStanding => {
  const numbers = numbersOf(windows, source);
  if (numbers.includes(number)) return 'known';
  const [lowest] = numbers;
  return lowest !== undefined && numbers.length >= limits.orderWindow && isLower(number, lowest) ? 'below' : 'new';
};

/** The windows with one number more. The source used longest ago is dropped once there are more than `limits.orderSources`. */
export const withOrder = (windows: readonly OrderWindow[], { source, number }: MessageOrder): readonly OrderWindow[] => {
  const numbers = numbersOf(windows, source);
  const place = numbers.findLastIndex((other) => isLower(other, number)) + 1;
  const grown = numbers[place] === number ? numbers : numbers.toSpliced(place, 0, number);
  const others = windows.filter((window) => window.source !== source).slice(1 - limits.orderSources);
  return [...others, { source, numbers: grown.slice(-limits.orderWindow).join(' ') }];
};

const numbersOf = (windows: readonly OrderWindow[], source: string): readonly string[] =>
  windows.find((window) => window.source === source)?.numbers.split(' ') ?? [];

/** Compares decimal numbers without leading zeros, of any length. */
const isLower = (one: string, other: string): boolean =>
  one.length < other.length || (one.length === other.length && one < other);
