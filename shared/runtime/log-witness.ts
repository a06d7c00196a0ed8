import { NatterError } from '../kit/errors.ts';
import type { Ports } from '../ports/index.ts';

/**
 * Checks that the log still is the one that `reader` has read up to `position`, also before this process began, and remembers which
 * one it is. Throws `NatterError('log_regressed')` when it was created anew or ends before the position (I13): reading on would skip or
 * repeat facts without anybody noticing. From then on `follow` keeps watch.
 */
export const witnessLog = async (
  { events, cursors }: Pick<Ports, 'events' | 'cursors'>,
  reader: string,
  position: number,
): Promise<void> => {
  const remembered = `${reader}-incarnation`;
  const [info, known] = await Promise.all([events.info(), cursors.get(remembered)]);
  if (known !== 0 && known !== info.incarnation) {
    throw new NatterError('log_regressed', `the event log was created anew; its predecessor was read up to ${position}`);
  }
  if (position > info.lastSeq) {
    throw new NatterError('log_regressed', `the event log ends at ${info.lastSeq}; it was read up to ${position} before`);
  }
  if (known === 0) await cursors.put(remembered, info.incarnation);
};
