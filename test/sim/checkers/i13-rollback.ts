import type { Checker } from '../history.ts';

/** I13: nobody appends to a log that went back, and nobody reads on in it who stands where it has nothing. */
export const nobodyBelievesAnOlderLog: Checker = ({ rollbacks }) =>
  rollbacks.flatMap(({ at, to, written, reads }) => [
    ...written.map(({ id, seq }) => `${id} was written at ${seq} when the log had gone back from ${at} to ${to}`),
    ...reads
      .filter(({ after }) => after > to)
      .map(({ reader, after, seq }) => `${reader} read ${seq} after ${after} when the log had gone back to ${to}`),
  ]);
