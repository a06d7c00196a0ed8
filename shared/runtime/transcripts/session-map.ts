import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseKey, type SessionKey } from '../../domain/keys/session-key.ts';
import type { IndexRow } from '../../domain/projections/index-row.ts';
import { type ListConfig, sessionRowOf } from '../../domain/projections/session-row.ts';
import { storeOf } from '../../domain/projections/transcript-layout.ts';
import { escapeControls } from '../../kit/scrub.ts';

/** A configuration with a store. */
export type StoreConfig = ListConfig & { readonly session: { readonly store: string } };

/** The path of the map that contains a key's entry. */
export const mapPathOf = ({ session }: StoreConfig, key: SessionKey): string => storeOf(session.store, parseKey(key).agentId).map;

/** A session's entry in the map (A2/11, 13–14): its list row, its origin and its tokens. */
const entryOf = (row: IndexRow, config: ListConfig): object => {
  const { key: _, kind: __, provider: ___, ...listed } = sessionRowOf(row, config);
  const { generation, createdAt, inputTokens, outputTokens, origin } = row;
  const { subject, room, space } = origin;
  return { ...listed, generation, createdAt, inputTokens, outputTokens, origin, subject, room, space };
};

/**
 * Atomically replaces the session map at `path` (A2/8, 11): session key → entry, without keys that have no session or are deleted
 * (C9).
 */
export const writeMap = async (path: string, rows: readonly IndexRow[], config: ListConfig): Promise<void> => {
  const listed = rows.filter(({ deleted, generation }) => !deleted && generation > 0);
  const sorted = listed.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  const entries = sorted.map((row) => `${JSON.stringify(row.key)}: ${JSON.stringify(entryOf(row, config))}`);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.tmp`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(escapeControls(`{\n${entries.join(',\n')}\n}\n`));
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
};
