import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { parseKey, type SessionKey } from '../keys/session-key.ts';

/** Paths of transcripts and session maps, in the layout of A2/8–10 and C12. */

/** The layout below one folder, as `natter export` writes it: a value for `session.store`. */
export const exportStore = (folder: string): string => join(folder, 'agents', '{agentId}', 'sessions', 'sessions.json');

/** Longest part of a file name: two of them and the rest fit into the 255 bytes that file systems allow. */
const longestPart = 100;
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** Bytes that are kept as they are. Capitals are not, because some file systems ignore case. */
const plain = /^[a-z0-9._@+=#,-]$/;

/**
 * An id, which is untrusted text, as a part of a file name: never a folder, never hidden, never empty, and unique per id even
 * where case is ignored. `decodeURIComponent` gives the id back, unless it was too long and ends in its hash.
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
 * The folder and session map of an agent under `session.store` (A2/8, 19). A path that ends in `.json` is the map itself, any
 * other is the folder. Without `{agentId}` all agents share it.
 */
export const storeOf = (store: string, agentId: string): { folder: string; map: string } => {
  const path = store.replaceAll('{agentId}', () => namePart(agentId));
  return store.endsWith('.json') ? { folder: dirname(path), map: path } : { folder: path, map: join(path, 'sessions.json') };
};

/** The extension of transcript files. */
export const transcriptSuffix = '.jsonl';

/**
 * The name of a session's transcript: `<SessionId>.jsonl`, or `<SessionId>-topic-<threadId>.jsonl` for a topic (A2/9–10). `own`:
 * a name unique to the key, for an id that another key uses too.
 */
export const transcriptName = (key: SessionKey, sessionId: string, own = false): string => {
  const { threadId } = parseKey(key);
  const topic = threadId === undefined ? '' : `-topic-${namePart(threadId)}`;
  return `${namePart(sessionId)}${topic}${own ? `~${digestOf(key)}` : ''}${transcriptSuffix}`;
};
