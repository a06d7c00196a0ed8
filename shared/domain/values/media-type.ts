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

/** A text, which every model can read. */
export const isTextFile = (type: string): boolean =>
  type.startsWith('text/') || /^application\/(?:json|xml|yaml|toml|javascript|x-ndjson|x-yaml|x-sh)$|\+(?:json|xml)$/.test(type);
