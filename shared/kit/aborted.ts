/** The reason of an abort that nobody looks at. Made once: an error with a stack trace for each costs more than what it ends. */
export const aborted = new DOMException('This operation was aborted', 'AbortError');
