import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of the page, as it is sent: plain, and compressed where the build did that. */
export interface SiteFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly br?: Buffer | undefined;
  readonly gzip?: Buffer | undefined;
}
/** The page's files by their names, such as `index.html` and `assets/main-1a2b.js`. */
export type Site = ReadonlyMap<string, SiteFile>;

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json; charset=utf-8',
};

/** Where the build puts the page, seen from `dist` and from the sources. */
const folders = ['../../page/site', '../../../dist/services/page/site'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

const optional = (path: string): Buffer | undefined => (existsSync(path) ? readFileSync(path) : undefined);

/** Reads the page into memory, once: it is small. Empty where it was not built. */
export const readSite = (folder = folders.find((each) => existsSync(join(each, 'index.html')))): Site => {
  if (folder === undefined) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  return new Map(
    names.flatMap((name): [string, SiteFile][] => {
      const type = types[/\.(\w+)$/.exec(name)?.[1] ?? ''];
      const path = join(folder, name);
      if (type === undefined) return [];
      return [[name, { type, plain: readFileSync(path), br: optional(`${path}.br`), gzip: optional(`${path}.gz`) }]];
    }),
  );
};
