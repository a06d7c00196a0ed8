import { useEffect, useState } from 'preact/hooks';
import { type EventPage, type LogEntry, sessionPath } from '../../../shared/client/main.ts';
import { client } from '../base/signed-in.ts';
import { rows } from '../sessions/session-list.ts';

/** The gateway looks through a part of the log at a time: so many are asked for. */
const mostParts = 25;

/** A reset or a fork of a session, with the sequence of its commit. */
export type RecordedReset = Pick<LogEntry, 'seq' | 'events'>;

const readResets = async (key: string, after: number, signal: AbortSignal): Promise<readonly RecordedReset[]> => {
  const resets: RecordedReset[] = [];
  let cursor = `${after}`;
  for (let part = 0; part < mostParts; part++) {
    const query = { after: cursor, limit: 1_000, type: ['session_reset'] };
    const page = await client.get<EventPage>(sessionPath(key, '/events'), { query, signal });
    for (const event of page.events) if (event.type === 'session_reset') resets.push({ seq: event.seq, events: [event] });
    if (!page.more) break;
    cursor = page.next;
  }
  return resets;
};

/** The resets and forks of a session after a sequence, oldest first, read again with each new generation. None where they cannot be read. */
export const useResets = (key: string | undefined, after: number): readonly RecordedReset[] => {
  const [resets, setResets] = useState<readonly RecordedReset[]>([]);
  const generation = key === undefined ? undefined : rows.value?.byKey.get(key)?.generation;
  useEffect(() => {
    setResets([]);
    if (key === undefined || generation === 1) return undefined;
    const controller = new AbortController();
    readResets(key, after, controller.signal).then(setResets, () => {});
    return () => controller.abort();
  }, [key, after, generation]);
  return resets;
};
