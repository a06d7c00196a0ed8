/** One archive of the machine's package manager, as far as we reuse it. `signedBy` may hold a path, a fingerprint or a whole key. */
export interface AptSource {
  readonly uri: string;
  readonly suites: readonly string[];
  readonly components: readonly string[];
  readonly signedBy: string | null;
}

/** Reads a source file in either of apt's formats; lines it does not understand are passed over. */
export const parseAptSources = (fileName: string, text: string): AptSource[] =>
  fileName.endsWith('.sources') ? parseStanzas(text) : text.split('\n').flatMap(parseLine);

/** `deb [arch=amd64 signed-by=/path] http://host/debian bookworm main contrib` */
const parseLine = (line: string): AptSource[] => {
  const match = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]+)/.exec(line);
  if (match === null) return [];
  const [, options = '', uri = '', suite = '', components = ''] = match;
  const signedBy = /(?:^|\s)signed-by=(\S+)/i.exec(options)?.[1]?.split(',')[0] ?? null;
  return [{ uri, suites: [suite], components: words(components), signedBy }];
};

/** Stanzas of `Field: value`, where a value goes on in lines that begin with a space (deb822). */
const parseStanzas = (text: string): AptSource[] =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .split(/\n\s*\n/)
    .flatMap((stanza) => {
      const fields = new Map([...stanza.matchAll(/^([A-Za-z-]+):[ \t]*((?:.*)(?:\n[ \t].*)*)/gm)].map(fieldOf));
      const field = (name: string): string => fields.get(name) ?? '';
      if (!words(field('types')).includes('deb') || field('enabled').trim().toLowerCase() === 'no') return [];
      const [suites, components] = [words(field('suites')), words(field('components'))];
      const signedBy = field('signed-by').trim() === '' ? null : field('signed-by').trimEnd();
      return words(field('uris')).map((uri) => ({ uri, suites, components, signedBy }));
    });

const fieldOf = ([, name = '', value = '']: RegExpMatchArray): [string, string] => [name.toLowerCase(), value];
const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');
