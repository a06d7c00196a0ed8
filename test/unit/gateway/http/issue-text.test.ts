import { expect, test } from 'vitest';
import { z } from 'zod';
import { checked } from '../../../../services/gateway/http/input.ts';

const body = z.object({
  name: z.string().max(3).optional(),
  count: z.int().min(1).max(2_000).optional(),
  share: z.number().max(2).optional(),
  list: z.array(z.string()).max(4).optional(),
  on: z.boolean().optional(),
  how: z.enum(['fast', 'slow']).optional(),
  type: z.literal('x').optional(),
  own: z.string('our own words').optional(),
  needed: z.object({}),
});

test.each<[object, string]>([
  [{ name: 7 }, 'name: use a text'],
  [{ name: 'long' }, 'name: use at most 3 characters'],
  [{ count: 1.5 }, 'count: use a whole number'],
  [{ count: 0 }, 'count: use at least 1'],
  [{ count: 2_001 }, 'count: use at most 2,000'],
  [{ share: 5 }, 'share: use at most 2'],
  [{ list: {} }, 'list: use a list'],
  [{ list: ['1', '2', '3', '4', '5'] }, 'list: use at most 4 entries'],
  [{ on: 'yes' }, 'on: use true or false'],
  [{ how: 'so' }, 'how: use one of "fast", "slow"'],
  [{ type: 'y' }, 'type: use "x"'],
  [{ own: 7 }, 'own: our own words'],
  [{ needed: undefined }, 'needed: is missing; give an object'],
])('%j is refused in our words', (change, message) => {
  expect(() => checked(body, { needed: {}, ...change }, 'body')).toThrow(message);
});
