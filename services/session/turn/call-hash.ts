import { createHash } from 'node:crypto';
import { limits } from '../../../shared/kit/limits.ts';

/** Parses a call's arguments as the model wrote them; an empty text means no arguments. A `problem` is worded for the model. */
export const parseArguments = (text: string): { readonly value: object } | { readonly problem: string } => {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { problem: 'the arguments must be a JSON object, such as {"path": "notes.md"}' };
    }
    canonical(value, limits.decodeDepth);
    return { value };
  } catch (error) {
    return { problem: `the arguments cannot be read: ${error instanceof Error ? error.message.slice(0, 300) : 'no JSON'}` };
  }
};

/** SHA-256 in hex over the tool and its parsed arguments, independent of the order of their names: approvals are bound to it (I7). */
export const callHash = (tool: string, given: unknown): string =>
  createHash('sha256')
    .update(canonical([tool, given], limits.decodeDepth + 1))
    .digest('hex');

/** JSON with sorted names. Throws `RangeError` on values that it cannot distinguish, or that are nested too deeply. */
const canonical = (value: unknown, depth: number): string => {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('a number is too large');
  if (Object.is(value, -0)) return '-0';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth === 0) throw new RangeError(`nested more than ${limits.decodeDepth} deep`);
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth - 1)).join(',')}]`;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item, depth - 1)}`).join(',')}}`;
};
