import { limits } from '../../../shared/kit/limits.ts';
import type { Checker } from '../history.ts';

/** I11: no host holds more sessions than it may, and no session queues more turns than it may. */
export const everythingIsBounded: Checker = ({ residents, commits }) => [
  ...residents
    .filter(({ resident, limit }) => resident > limit)
    .map(({ host, resident, limit }) => `${host} holds ${resident} sessions; it may hold ${limit}`),
  ...commits.flatMap(({ key, seq, events }) =>
    events.flatMap((event) =>
      event.type === 'turn_queued' && event.position > limits.queuedTurns
        ? [`${key}: ${event.position} turns wait at ${seq}; ${limits.queuedTurns} may`]
        : [],
    ),
  ),
];
