/**
 * Copies a string into memory of its own. A decoded string may be a slice that keeps its whole message alive and is slow to
 * compare, so a string that outlives its message (a key, an id in a session's state) is copied. A browser, which has no `Buffer`,
 * decodes JSON, whose strings are no slices.
 */
export const detachedString = <T extends string>(text: T): T =>
  typeof Buffer === 'undefined' ? text : (Buffer.from(text, 'utf8').toString('utf8') as T);
