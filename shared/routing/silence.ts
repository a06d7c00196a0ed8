/** What a model writes when it has nothing to say; the second one is the older form (A6/77). */
const markers = ['<NO_REPLY>', '<EMPTY_RESPONSE>'] as const;

/** A reply as people get to see it: without silence markers, and empty when nothing else was said (A6/77–79). */
export const withoutSilence = (reply: string): string =>
  markers.some((marker) => reply.includes(marker))
    ? markers.reduce((text, marker) => text.replaceAll(marker, ''), reply).trim()
    : reply;
