import type { Checker } from '../history.ts';

/**
 * I13: nobody appends to a log that went back, and nobody reads on in it who stands where it has nothing. What came before it went back is its
 * own. What is lost for good had sequences that nothing has again.
 */
export const nobodyBelievesAnOlderLog: Checker = ({ commits, rollbacks, losses }) => {
  const known = new Set([...commits, ...losses.flatMap(({ log }) => log)].map(({ seq, id }) => `${seq} ${id}`));
  return [
    ...losses.flatMap(({ to, at }) =>
      commits
        .filter(({ seq }) => to < seq && seq <= at)
        .map(({ id, seq }) => `${id} has the sequence ${seq}, which a lost commit had had`),
    ),
    ...rollbacks.flatMap(({ at, to, written, reads }) => [
      ...written.map(({ id, seq }) => `${id} was written at ${seq} when the log had gone back from ${at} to ${to}`),
      ...reads
        .filter(({ after, seq, id }) => after > to && !known.has(`${seq} ${id}`))
        .map(({ reader, after, seq }) => `${reader} read ${seq} after ${after} when the log had gone back to ${to}`),
    ]),
  ];
};
