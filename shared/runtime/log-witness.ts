import { type LogView, type LogWitness, regression } from '../domain/session/log-witness.ts';
import { NatterError } from '../kit/errors.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { Ports } from '../ports/index.ts';

/** The log as it is, if it still has what was seen, maybe by an earlier process. Throws `log_regressed` if it has not (I13). */
export const intactLog = async (events: Pick<EventLog, 'view'>, seen: LogWitness): Promise<LogView> => {
  const view = await events.view(seen.seq);
  const problem = regression(seen, view);
  if (problem !== null) throw new NatterError('log_regressed', problem);
  return view;
};

/**
 * The position from `load` of a reader that keeps it beside what it derives. Its cursor is then a witness only: it says at which commit the
 * reader started last. Throws `log_regressed` if the log has lost that, or the position (I13): reading on would silently skip or repeat events.
 */
export const witnessedPosition = async (
  { events, cursors }: Pick<Ports, 'events' | 'cursors'>,
  reader: string,
  load: () => Promise<number>,
): Promise<number> => {
  const [seq, seen] = await Promise.all([load(), cursors.get(reader)]);
  const { incarnation } = await intactLog(events, seen);
  const { digest } = await intactLog(events, { incarnation, seq, digest: null });
  if (seq > 0) await cursors.put(reader, { incarnation, seq, digest });
  return seq;
};
