import { type FileHandle, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Caller, NatterClient } from '../../../shared/client/main.ts';
import { sessionMarkdown } from '../../../shared/domain/projections/session-markdown.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { commitsOf } from '../commits.ts';

/** What was said and done in a session, as Markdown (B20), and the number of messages in it. */
export const sessionAsMarkdown = async (
  client: NatterClient,
  key: string,
): Promise<{ readonly text: string; readonly messages: number }> => {
  const { actor: me } = await client.get<Caller>('/v1/me');
  const commits: RecordedCommit[] = [];
  for await (const commit of commitsOf(client, key)) commits.push(commit);
  return sessionMarkdown(commits, me);
};

/** What is done where there is a file already: on a command line, an option can have it replaced. */
type IfThere = 'name another' | 'ask for --force' | 'replace';

/** Opens a file to write an export into. Throws `NatterError('invalid')` where there is one already, or no folder for it. */
export const exportFile = async (path: string, ifThere: IfThere): Promise<FileHandle> => {
  try {
    return await open(path, ifThere === 'replace' ? 'w' : 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const orForce = ifThere === 'ask for --force' ? ', or replace it with --force' : '';
    if (code === 'EEXIST') throw new NatterError('invalid', `${path} exists already; name another file${orForce}`);
    if (code === 'ENOENT') throw new NatterError('invalid', `the folder ${dirname(path)} does not exist`);
    throw error;
  }
};

/** Writes `sessionAsMarkdown` to a file, and resolves with what to say of it. */
export const exportToFile = async (
  client: NatterClient,
  key: string,
  { file, ifThere = 'name another' }: { readonly file: string; readonly ifThere?: IfThere },
): Promise<string> => {
  const path = resolve(file);
  const { text, messages } = await sessionAsMarkdown(client, key);
  const handle = await exportFile(path, ifThere);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
  return `${counted(messages, 'message')} in ${path}`;
};
