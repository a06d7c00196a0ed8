import { z } from 'zod';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limitNumber, limitParameter, sequenceParameter } from '../http/input.ts';

/** What calls say of items that are listed newest first and named by their sequence: dead letters, deliveries. */

export const numberedListQuery = z.object({ before: sequenceParameter.optional(), limit: limitParameter(50) });
export const seq = z.int().min(1);
export const numberedListParameters = z.strictObject({
  before: seq.optional(),
  limit: limitNumber(50),
});
export const numberedParameters = z.strictObject({ seq });

/** Returns a function that reads the sequence in a path. It throws `NatterError('not_found')`, with the noun for what is not there. */
export const sequenceIn =
  (noun: string) =>
  ({ seq: text = '' }: Readonly<Record<string, string>>): number => {
    if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
    throw new NatterError('not_found', `seq: there is no such ${noun}; use the "seq" of one in the list`, { field: 'seq' });
  };
