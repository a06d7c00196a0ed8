import type { Checker } from '../history.ts';

/** I13: nobody appends to a log that went back, and nobody reads on in it who stands where it has nothing. What came before it went back is its own. */
export const nobodyBelievesAnOlderLog: Checker = ({ commits, rollbacks }) =>
  rollbacks.flatMap(({ at, to, written, reads }) => [
    ...written.map(({ id, seq }) => `${id} was written at ${seq} when the log had gone back from ${at} to ${to}`),
    ...reads
      .filter(({ after, seq, id }) => after > to && !commits.some((commit) => commit.seq === seq && commit.id === id))
      .map(({ reader, after, seq }) => `${reader} read ${seq} after ${after} when the log had gone back to ${to}`),
  ]);
