/** A violated assumption, that is, a bug. Never thrown for bad input, which is a value or a `NatterError`. */
export class AssertionError extends Error {
  override name = 'AssertionError';
}

/** Throws `AssertionError` when `condition` is falsy. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Ends a switch over a union: an unhandled member is a type error here. */
export const assertNever = (value: never): never => {
  throw new AssertionError(`unexpected value: ${JSON.stringify(value)}`);
};
