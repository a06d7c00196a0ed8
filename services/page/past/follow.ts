import type { PastSource } from './past.ts';

interface Reading {
  /** Reads the commits after a sequence; resolves with the last one that has been read. */
  read(after: number): Promise<number>;
  /** All that there was at first has been read. */
  isRead(): void;
}

/** Reads the commits of a session, then those that are recorded, until the signal aborts. */
export const readAndFollow = async (
  source: Pick<PastSource, 'recorded'>,
  signal: AbortSignal,
  { read, isRead }: Reading,
): Promise<void> => {
  let last = await read(0);
  isRead();
  for await (const seq of source.recorded(last, signal)) if (seq > last) last = await read(last);
};
