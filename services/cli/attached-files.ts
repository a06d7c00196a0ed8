import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { errorMessage, NatterError } from '../../shared/kit/errors.ts';

/** Media types by the end of a file's name. What is not here is told by its first bytes, or is just bytes. */
const types: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp', svg: 'image/svg+xml' },
    ...{ wav: 'audio/wav', mp3: 'audio/mpeg', pdf: 'application/pdf', json: 'application/json' },
    ...{ txt: 'text/plain', md: 'text/markdown', csv: 'text/csv', html: 'text/html', log: 'text/plain', yaml: 'text/yaml' },
  }),
);

/** Files as a message has them. Throws `NatterError('invalid')` with the name of one that cannot be read. */
export const attachedFiles = (paths: readonly string[]): Promise<{ data: string; name: string; type?: string }[]> =>
  Promise.all(
    paths.map(async (path) => {
      const type = types.get(extname(path).slice(1).toLowerCase());
      try {
        return { data: (await readFile(path)).toString('base64'), name: basename(path), ...(type !== undefined && { type }) };
      } catch (cause) {
        throw new NatterError('invalid', `--attach: ${path} cannot be read: ${errorMessage(cause)}`, { field: 'attach', cause });
      }
    }),
  );
