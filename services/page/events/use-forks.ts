import { useEffect, useState } from 'preact/hooks';
import { type EventPage, sessionPath } from '../../../shared/client/main.ts';
import { client } from '../base/signed-in.ts';
import type { RecordedFork } from '../past/left-behind.ts';
import { rows } from '../sessions/session-list.ts';

/** The gateway looks through a part of the log at a time: so many are asked for. */
const mostParts = 25;

const readForks = async (key: string, after: number, signal: AbortSignal): Promise<readonly RecordedFork[]> => {
  const forks: RecordedFork[] = [];
  let cursor = `${after}`;
  for (let part = 0; part < mostParts; part++) {
    const query = { after: cursor, limit: 1_000, type: ['session_reset'] };
    const page = await client.get<EventPage>(sessionPath(key, '/events'), { query, signal });
    for (const event of page.events)
      if (event.type === 'session_reset' && event.forkedFrom) forks.push({ seq: event.seq, base: event.forkedFrom });
    if (!page.more) break;
    cursor = page.next;
  }
  return forks;
};

/** The forks of a session after a sequence, oldest first, read again with each new generation. None where they cannot be read. */
export const useForks = (key: string | undefined, after: number): readonly RecordedFork[] => {
  const [forks, setForks] = useState<readonly RecordedFork[]>([]);
  const generation = key === undefined ? undefined : rows.value?.byKey.get(key)?.generation;
  useEffect(() => {
    setForks([]);
    if (key === undefined || generation === 1) return undefined;
    const controller = new AbortController();
    readForks(key, after, controller.signal).then(setForks, () => {});
    return () => controller.abort();
  }, [key, after, generation]);
  return forks;
};
