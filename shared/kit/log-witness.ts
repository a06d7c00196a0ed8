import type { Ports } from '../ports.ts';
import { hasCode, NatterError } from './errors.ts';

const everyMs = 2_000;

/** A reader of the log: the name it keeps its cursor under, and how far it has come. */
export interface LogReader {
  readonly name: string;
  position(): number;
}

/**
 * Checks that the log still is the one that `reader` has read, and remembers which one it is. Throws `NatterError('log_regressed')` when
 * it was created anew or ends before the reader's position (I13): reading on would skip or repeat facts without anybody noticing.
 * Resolves with the log's last sequence.
 */
export const witnessLog = async (
  { events, cursors }: Pick<Ports, 'events' | 'cursors'>,
  { name, position }: LogReader,
): Promise<number> => {
  const remembered = `${name}-incarnation`;
  const reached = position();
  const [info, known] = await Promise.all([events.info(), cursors.get(remembered)]);
  if (known !== 0 && known !== info.incarnation) {
    throw new NatterError('log_regressed', `the event log was created anew; its predecessor was read up to ${reached}`);
  }
  if (reached > info.lastSeq) {
    throw new NatterError('log_regressed', `the event log ends at ${info.lastSeq}; it was read up to ${reached} before`);
  }
  if (known === 0) await cursors.put(remembered, info.incarnation);
  return info.lastSeq;
};

/** Witnesses the log every two seconds until `signal` aborts, and tells its last sequence. Throws when the log has regressed. */
export const keepWitness = async (
  ports: Pick<Ports, 'events' | 'cursors' | 'clock'>,
  reader: LogReader,
  saw: (lastSeq: number) => void,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    await ports.clock.sleep(everyMs, signal);
    try {
      saw(await witnessLog(ports, reader));
    } catch (error) {
      if (hasCode(error, 'log_regressed')) throw error;
    }
  }
};
