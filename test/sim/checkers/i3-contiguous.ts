import { byKey, type Checker } from '../history.ts';

/** I3: the commits of a key are numbered from 1 without a gap or a repeat. */
export const revisionsAreContiguous: Checker = (history) =>
  [...byKey(history)].flatMap(([key, commits]) =>
    commits.flatMap(({ rev, seq }, index) =>
      rev === index + 1 ? [] : [`${key}: commit ${seq} has rev ${rev} in the place of rev ${index + 1}`],
    ),
  );
