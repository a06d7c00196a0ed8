/** What a model writes to stay silent; the second marker is the older form (A6/77). */
const markers: readonly string[] = ['<NO_REPLY>', '<EMPTY_RESPONSE>'];
const isBeginning = (text: string): boolean => markers.some((marker) => marker.startsWith(text));

/** The index of the first character that occurs in no marker, or -1. A marker being written cannot reach past it. */
export const outsideMarkers = (text: string): number => text.search(/[^<>_A-Z]/u);

/** Removes the markers from a text that arrives in pieces. */
export interface SilenceFilter {
  /** The visible part of the next piece, preceded by text that was held back and turned out not to be a marker. */
  push(text: string): string;
  /** The text still held back at the end: it was not a marker. */
  end(): string;
  /** How many of the text's last characters are held back. */
  held(): number;
}

/**
 * Text is held back only while it may be the beginning of a marker, so no fragment of one is ever shown, however the text is
 * split; text that turns out not to be a marker passes unchanged (A6/79). Removing a marker must not form a new one from its
 * surroundings, so nested beginnings are held back together.
 */
export const silenceFilter = (): SilenceFilter => {
  let pending: string[] = [];
  let held = 0;
  const release = (): string => {
    const text = pending.join('');
    pending = [];
    held = 0;
    return text;
  };
  const take = (character: string): string => {
    const grown = (pending.pop() ?? '') + character;
    const isMarker = markers.includes(grown);
    if (!isMarker && isBeginning(grown)) pending.push(grown);
    else if (!isMarker && character === '<') pending.push(grown.slice(0, -1), character);
    else if (!isMarker) return release() + grown;
    held = pending.length === 0 ? 0 : held + 1;
    return '';
  };
  return {
    push: (text) => {
      let seen = '';
      for (let at = 0; at < text.length; at++) {
        const next = pending.length > 0 ? at : text.indexOf('<', at);
        if (next === -1) return seen + text.slice(at);
        seen += text.slice(at, next) + take(text.charAt(next));
        at = next;
      }
      return seen;
    },
    end: release,
    held: () => held,
  };
};

/** A reply as people see it: without silence markers, and empty if nothing else was said (A6/77–79). */
export const withoutSilence = (reply: string): string => {
  const filter = silenceFilter();
  const text = filter.push(reply) + filter.end();
  return text === reply ? reply : text.trim();
};
