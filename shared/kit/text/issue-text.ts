import type { z } from 'zod';

type Issue = Parameters<z.core.$ZodErrorMap>[0];

const kinds: Readonly<Record<string, string>> = {
  ...{ string: 'a text', number: 'a number', int: 'a whole number', boolean: 'true or false' },
  ...{ array: 'a list', object: 'an object', record: 'an object' },
};
const units: Readonly<Record<string, string>> = { string: ' characters', array: ' entries' };

const limit = (how: string, bound: number | bigint, origin: string): string =>
  `use ${how} ${bound.toLocaleString('en')}${units[origin] ?? ''}`;

/** What to do about a value that a schema refuses without words of its own; `undefined` where the schema library says it well enough. */
const issueText = (issue: Issue): string | undefined => {
  switch (issue.code) {
    case 'invalid_type': {
      const kind = kinds[issue.expected];
      if (kind === undefined) return undefined;
      return issue.input === undefined ? `is missing; give ${kind}` : `use ${kind}`;
    }
    case 'too_big':
      return limit('at most', issue.maximum, issue.origin);
    case 'too_small':
      return limit('at least', issue.minimum, issue.origin);
    case 'invalid_value':
      return `use ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    default:
      return undefined;
  }
};

/**
 * As `safeParse`, with issues in these words. A schema takes far longer with words of its caller's, so they are asked for only when it has
 * refused the value.
 */
export const parsed = <T>(schema: z.ZodType<T, unknown>, value: unknown): z.ZodSafeParseResult<T> => {
  const result = schema.safeParse(value);
  return result.success ? result : schema.safeParse(value, { error: issueText });
};
