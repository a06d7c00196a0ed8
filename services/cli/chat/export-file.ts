import { writeFile } from 'node:fs/promises';
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

/**
 * Writes `sessionAsMarkdown` to a new file, and resolves with what to say of it. Throws `NatterError('invalid')` where there is
 * a file already, or no folder for it.
 */
export const exportToFile = async (client: NatterClient, key: string, file: string): Promise<string> => {
  const path = resolve(file);
  const { text, messages } = await sessionAsMarkdown(client, key);
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST') throw new NatterError('invalid', `${path} exists already; name another file`);
    if (code === 'ENOENT') throw new NatterError('invalid', `the folder ${dirname(path)} does not exist`);
    throw error;
  }
  return `${counted(messages, 'message')} in ${path}`;
};
