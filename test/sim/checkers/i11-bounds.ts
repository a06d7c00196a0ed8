import { limits } from '../../../shared/kit/limits.ts';
import type { Checker } from '../history.ts';

/** What strangers have waiting takes none of the owner's room (D7): each may have as much. */
const queuedTurns = 2 * limits.queuedTurns;

/** I11: no host holds more sessions than it may, and no session queues more turns than it may. */
export const everythingIsBounded: Checker = ({ residents, commits }) => [
  ...residents
    .filter(({ resident, limit }) => resident > limit)
    .map(({ host, resident, limit }) => `${host} holds ${resident} sessions; it may hold ${limit}`),
  ...commits.flatMap(({ key, seq, events }) =>
    events.flatMap((event) =>
      event.type === 'turn_queued' && event.position > queuedTurns
        ? [`${key}: ${event.position} turns wait at ${seq}; ${queuedTurns} may`]
        : [],
    ),
  ),
];
