import { NatterError } from '../kit/errors.ts';
import type { Ports } from '../ports/index.ts';

/**
 * Checks that the log is still the one that `reader` has read up to `position`, even in an earlier process, and remembers its
 * incarnation. Throws `log_regressed` when it was recreated or ends before the position (I13): reading on would silently skip or
 * repeat events. From then on `follow` does this check.
 */
export const witnessLog = async (
  { events, cursors }: Pick<Ports, 'events' | 'cursors'>,
  reader: string,
  position: number,
): Promise<void> => {
  const remembered = `${reader}-incarnation`;
  const [info, known] = await Promise.all([events.info(), cursors.get(remembered)]);
  if (known !== 0 && known !== info.incarnation) {
    throw new NatterError('log_regressed', `the event log was recreated; its predecessor was read up to ${position}`);
  }
  if (position > info.lastSeq) {
    throw new NatterError('log_regressed', `the event log ends at ${info.lastSeq}; it was read up to ${position} before`);
  }
  if (known === 0) await cursors.put(remembered, info.incarnation);
};
