import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { IndexView } from '../../../shared/ports/session-index.ts';
import { mapPathOf, type StoreConfig, writeMap } from '../../../shared/runtime/transcripts/session-map.ts';

/** Keeps each agent's `sessions.json` in line with the session index (A2/8, 11). */
export const createSessionMaps = (view: Pick<IndexView, 'get' | 'rows'>, config: StoreConfig) => {
  /** Changed sessions, with the sequence that the index must reach first. */
  const changed = new Map<SessionKey, number>();
  let isWhole = false;

  const write = async (wanted: (path: string) => boolean): Promise<void> => {
    const maps = new Map<string, IndexRow[]>();
    for (const row of view.rows()) {
      const path = mapPathOf(config, row.key);
      if (!wanted(path)) continue;
      const rows = maps.get(path);
      if (rows) rows.push(row);
      else maps.set(path, [row]);
    }
    for (const [path, rows] of maps) await writeMap(path, rows, config);
  };

  return {
    /** Notes a change, to be written once the index has reached `seq`. */
    note: (key: SessionKey, seq: number): void => {
      if (changed.size >= limits.indexCachedRows) {
        changed.clear();
        isWhole = false;
      }
      changed.set(key, seq);
    },
    /** The number of sessions whose entry is out of date. */
    behind: (): number => changed.size,
    hasChanges: (): boolean => changed.size > 0 || !isWhole,
    /**
     * Writes the maps with changes that have reached the index. The first time, and after very many changes, it writes all maps.
     */
    write: async (): Promise<void> => {
      const settled = [...changed].filter(([key, seq]) => (view.get(key)?.seq ?? 0) >= seq);
      for (const [key] of settled) changed.delete(key);
      const paths = new Set(settled.map(([key]) => mapPathOf(config, key)));
      const all = !isWhole;
      isWhole = true;
      if (all || paths.size > 0) await write((path) => all || paths.has(path));
    },
  };
};
