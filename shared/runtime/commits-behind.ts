import type { EventLog } from '../ports/event-log.ts';

/** How far a reader at `position` is behind the end of the log; 0 if no commit follows, although a restore has moved the end on. */
export const commitsBehind = async (events: Pick<EventLog, 'info' | 'page'>, position: number): Promise<number> => {
  const { lastSeq } = await events.info();
  if (lastSeq <= position) return 0;
  const { commits } = await events.page({ after: position, limit: 1 });
  return commits.length === 0 ? 0 : lastSeq - position;
};
