import { existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type SessionKey, sessionKey } from '../../../shared/domain/keys/session-key.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Installation } from '../installation.ts';

/**
 * The erasures that this installation has made, one JSON object a line. A backup that is older than an erasure still has what was erased;
 * `natter restore` repeats what is listed here. Keep a copy elsewhere than on the disk that the backup is for.
 */
export interface ListedErasure {
  readonly key: SessionKey;
  /** Time of the commit that recorded it, ms. */
  readonly at: number;
}
const listed = z.object({ key: sessionKey, at: z.number() });

/** Adds an erasure, durably. */
export const listErasure = async ({ prepare, paths }: Installation, { key, at }: ListedErasure): Promise<void> => {
  prepare();
  const file = await open(paths.erasures, 'a', 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ key, at })}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** The newest erasure of each key. Throws `NatterError('invalid')` with the line that cannot be read; a missing file is an error too. */
export const readErasures = async (path: string): Promise<readonly ListedErasure[]> => {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new NatterError('invalid', `the list of erasures ${path} cannot be read`, { cause, field: 'erasures' });
  });
  const newest = new Map<SessionKey, ListedErasure>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue;
    const erasure = parsed(line, `${path}, line ${index + 1}: not an erasure, {"key": …, "at": …}`);
    if (erasure.at >= (newest.get(erasure.key)?.at ?? 0)) newest.set(erasure.key, erasure);
  }
  return [...newest.values()];
};

/** The list of an installation; `null` if it has erased nothing yet. Throws as `readErasures` does. */
export const erasuresIn = async ({ paths }: Installation): Promise<readonly ListedErasure[] | null> =>
  existsSync(paths.erasures) ? readErasures(paths.erasures) : null;

const parsed = (line: string, problem: string): ListedErasure => {
  try {
    return listed.parse(JSON.parse(line));
  } catch (cause) {
    throw new NatterError('invalid', problem, { cause, field: 'erasures' });
  }
};
