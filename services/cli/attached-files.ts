import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { typeByName } from '../../shared/domain/values/media-type.ts';
import { errorMessage, NatterError } from '../../shared/kit/errors.ts';

/** Files as a message has them. Throws `NatterError('invalid')` with the name of one that cannot be read. */
export const attachedFiles = (paths: readonly string[]): Promise<{ data: string; name: string; type?: string }[]> =>
  Promise.all(
    paths.map(async (path) => {
      const type = typeByName(basename(path));
      try {
        return { data: (await readFile(path)).toString('base64'), name: basename(path), ...(type !== undefined && { type }) };
      } catch (cause) {
        throw new NatterError('invalid', `--attach: ${path} cannot be read: ${errorMessage(cause)}`, { field: 'attach', cause });
      }
    }),
  );
