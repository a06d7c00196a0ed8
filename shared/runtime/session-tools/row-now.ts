import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { IndexRow } from '../../domain/projections/index-row.ts';
import { summarize } from '../../domain/projections/summary.ts';
import { assert } from '../../kit/assert.ts';
import type { Clock } from '../../kit/clock.ts';
import { hasCode } from '../../kit/errors.ts';
import { orQuarantined } from '../../kit/or-quarantined.ts';
import type { EventLog } from '../../ports/event-log.ts';
import { readThrough } from '../read-through.ts';

/**
 * The key's current row, even of a deleted session: the indexed row, brought up to date from the log. `null`: nothing is
 * recorded. Throws `unavailable` when the log cannot be read up to its leader's end: a stale row must not pass for the truth. Of a
 * damaged session it is what can still be known.
 */
export const rowNow = async (
  sources: { readonly events: EventLog; readonly clock: Clock },
  key: SessionKey,
  indexed: IndexRow | null,
): Promise<IndexRow | null> => {
  const last = await orQuarantined(sources.events.last(key)).catch(async (error: unknown) => {
    if (!hasCode(error, 'damaged')) throw error;
    // Up to the damage the session can be read.
    for await (const commit of sources.events.read(key, { after: indexed?.seq ?? 0 })) indexed = summarize(indexed, commit);
    if (indexed === null) throw error;
    return indexed;
  });
  if (last === null) return null;
  return indexed !== null && indexed.seq >= last.seq ? indexed : orQuarantined(upTo(sources, key, indexed, last.seq));
};

const upTo = async (
  sources: { readonly events: EventLog; readonly clock: Clock },
  key: SessionKey,
  indexed: IndexRow | null,
  through: number,
): Promise<IndexRow> => {
  let row = indexed;
  for await (const commit of readThrough(sources, key, { after: row?.seq ?? 0, through })) row = summarize(row, commit);
  assert(row !== null, 'a key with a last commit has a row');
  return row;
};
