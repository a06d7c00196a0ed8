/**
 * The same text in memory of its own. A decoded string may be a slice that keeps its whole message alive, and is slow to compare: what
 * outlives its message (a key, an id in a session's state) is copied out.
 */
export const detachedString = <T extends string>(text: T): T => Buffer.from(text, 'utf8').toString('utf8') as T;
