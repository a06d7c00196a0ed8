/** A broken assumption of ours. Never thrown for bad input: bad input is a value or a `NatterError`. */
export class AssertionError extends Error {
  override name = 'AssertionError';
}

/** Throws `AssertionError` when `condition` is falsy. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Ends a switch over a union: a new member breaks the build here. */
export const assertNever = (value: never): never => {
  throw new AssertionError(`unexpected value: ${JSON.stringify(value)}`);
};
