import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Message, NatterClient } from '../../../shared/client/main.ts';
import { NatterError } from '../../../shared/kit/errors.ts';

const headOf = ({ role, sender, at }: Message): string =>
  `## ${role === 'assistant' ? 'agent' : (sender?.name ?? sender?.id ?? 'user')}, ${new Date(at).toISOString()}`;

/** Writes everything that was said in a session to a new Markdown file (B20), and resolves with its path and the number of messages. */
export const exportToFile = async (
  client: NatterClient,
  key: string,
  file: string,
): Promise<{ readonly path: string; readonly messages: number }> => {
  const path = resolve(file);
  const parts: string[] = [];
  for await (const message of client.sessions.messages(key)) parts.push(`${headOf(message)}\n\n${message.text}\n`);
  try {
    await writeFile(path, parts.join('\n'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new NatterError('invalid', `${path} exists already; name another file`);
    throw error;
  }
  return { path, messages: parts.length };
};
