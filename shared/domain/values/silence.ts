/** What a model writes when it has nothing to say; the second one is the older form (A6/77). */
const markers: readonly string[] = ['<NO_REPLY>', '<EMPTY_RESPONSE>'];
const isBeginning = (text: string): boolean => markers.some((marker) => marker.startsWith(text));

/** The first character of a text that no marker has in it: whatever came before, no marker is being written there. -1: none. */
export const outsideMarkers = (text: string): number => text.search(/[^<>_A-Z]/u);

/** Takes the markers out of a text that comes piece by piece. */
export interface SilenceFilter {
  /** The next piece as people get to see it, together with what was held back before it. */
  push(text: string): string;
  /** What was held back when the text ends: it was no marker. */
  end(): string;
  /** Characters of the text, counted from its last ones, of which it is still open whether they are seen. */
  held(): number;
}

/**
 * Text is held back only while it may be the beginning of a marker, so no fragment of one is ever seen, however the text is cut, and what
 * turns out not to be a marker comes through unchanged (A6/79). Taking a marker out must not make one of what stood around it: beginnings
 * can stand inside one another, and are held back together.
 */
export const silenceFilter = (): SilenceFilter => {
  let begun: string[] = [];
  let held = 0;
  const release = (): string => {
    const text = begun.join('');
    begun = [];
    held = 0;
    return text;
  };
  const take = (character: string): string => {
    const grown = (begun.pop() ?? '') + character;
    const isMarker = markers.includes(grown);
    if (!isMarker && isBeginning(grown)) begun.push(grown);
    else if (!isMarker && character === '<') begun.push(grown.slice(0, -1), character);
    else if (!isMarker) return release() + grown;
    held = begun.length === 0 ? 0 : held + 1;
    return '';
  };
  return {
    push: (text) => {
      let seen = '';
      for (let at = 0; at < text.length; at++) {
        const next = begun.length > 0 ? at : text.indexOf('<', at);
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

/** A reply as people get to see it: without silence markers, and empty when nothing else was said (A6/77–79). */
export const withoutSilence = (reply: string): string => {
  const filter = silenceFilter();
  const text = filter.push(reply) + filter.end();
  return text === reply ? reply : text.trim();
};
