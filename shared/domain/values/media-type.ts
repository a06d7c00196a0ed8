/** The kinds of files that models are given as they are. */
export const fileKinds = ['image', 'audio', 'pdf'] as const;
export type FileKind = (typeof fileKinds)[number];

const kinds: ReadonlyMap<string, FileKind> = new Map([
  ...['image/png', 'image/jpeg', 'image/gif', 'image/webp'].map((type) => [type, 'image'] as const),
  ...['audio/wav', 'audio/mp3', 'audio/mpeg'].map((type) => [type, 'audio'] as const),
  ['application/pdf', 'pdf'],
]);

/** `null`: no model is given such a file as it is. */
export const kindOfFile = (type: string): FileKind | null => kinds.get(type) ?? null;

/** Of what is not here the first bytes tell the type, or it is just bytes. */
const endings: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp', svg: 'image/svg+xml' },
    ...{ wav: 'audio/wav', mp3: 'audio/mpeg', pdf: 'application/pdf', json: 'application/json' },
    ...{ txt: 'text/plain', md: 'text/markdown', csv: 'text/csv', html: 'text/html', log: 'text/plain', yaml: 'text/yaml' },
  }),
);

/** The media type that the ending of a file's name says. */
export const typeByName = (name: string): string | undefined => endings.get(/[^.]\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '');

/** A text, which every model can read. */
export const isTextFile = (type: string): boolean =>
  type.startsWith('text/') || /^application\/(?:json|xml|yaml|toml|javascript|x-ndjson|x-yaml|x-sh)$|\+(?:json|xml)$/.test(type);
