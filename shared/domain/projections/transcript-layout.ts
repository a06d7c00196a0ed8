import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { parseKey, type SessionKey } from '../keys/session-key.ts';

/** Where transcripts and the map of sessions are, in the layout of A2/8–10 and C12. */

/** The layout under one folder, as `natter export` writes it: a value for `session.store`. */
export const exportStore = (folder: string): string => join(folder, 'agents', '{agentId}', 'sessions', 'sessions.json');

/** Longest part of a file name, so that two of them with the rest fit into the 255 bytes that file systems allow. */
const longestPart = 100;
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** Bytes that stand for themselves. Capitals do not: some file systems take them for small letters. */
const plain = /^[a-z0-9._@+=#,-]$/;

/**
 * An id, which is somebody else's text, as a part of a file name: never a folder, never hidden, never empty, and two different ids never have
 * the same, also where capitals do not count. `decodeURIComponent` gives the id back, except where it was too long and ends in its hash.
 */
const namePart = (id: string): string => {
  const bytes = [...Buffer.from(id)].map((byte) => {
    const character = String.fromCharCode(byte);
    return plain.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  });
  const name = bytes
    .join('')
    .replace(/^\./, '%2E')
    .replaceAll(/-(?=topic-)/g, '%2D');
  if (name === '') return '%';
  return name.length <= longestPart ? name : `${name.slice(0, 60)}~${digestOf(id)}`;
};

/**
 * The folder and the map of an agent under `session.store` (A2/8, 19): a path that ends in `.json` is the map itself, any other one is the
 * folder. Without `{agentId}` all agents share it.
 */
export const storeOf = (store: string, agentId: string): { folder: string; map: string } => {
  const path = store.replaceAll('{agentId}', () => namePart(agentId));
  return store.endsWith('.json') ? { folder: dirname(path), map: path } : { folder: path, map: join(path, 'sessions.json') };
};

/** The end of every transcript's name. */
export const transcriptSuffix = '.jsonl';

/**
 * The name of a session's transcript: `<SessionId>.jsonl`, `<SessionId>-topic-<threadId>.jsonl` for a topic (A2/9–10). `own`: a name no other
 * key can have, for an id that another key has too.
 */
export const transcriptName = (key: SessionKey, sessionId: string, own = false): string => {
  const { threadId } = parseKey(key);
  const topic = threadId === undefined ? '' : `-topic-${namePart(threadId)}`;
  return `${namePart(sessionId)}${topic}${own ? `~${digestOf(key)}` : ''}${transcriptSuffix}`;
};
