import { useEffect, useState } from 'preact/hooks';
import {
  type EventPage,
  NatterApiError,
  type NatterEvent,
  type PendingApproval,
  sessionPath,
} from '../../../shared/client/main.ts';
import { client, isApprover } from '../base/signed-in.ts';
import { type ApprovalStory, storyOf } from './approval-story.ts';
import { type Ending, endingOf, endingTypes } from './ending.ts';

const pageEvents = 100;
/** The events that a story is told of. */
const storyTypes = [
  ...['user_message', 'assistant_message', 'session_reset'],
  ...['turn_started', 'approval_requested', 'tool_result'],
];

type Told = Pick<PendingApproval, 'approvalId' | 'sessionKey'>;

/**
 * The story of an approval. Empty for who may not read the session. `until`: the sequence of a commit that is not before the question;
 * default: the newest.
 */
export const useStory = ({ approvalId, sessionKey }: Told, until?: number): ApprovalStory => {
  const [story, setStory] = useState<ApprovalStory>({});
  useEffect(() => {
    if (isApprover()) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const query = { before: until === undefined ? 'end' : `${until + 1}`, limit: pageEvents, type: storyTypes };
    client.get<EventPage>(sessionPath(sessionKey, '/events'), { query, signal }).then(
      ({ events }) => setStory(storyOf(events.toReversed(), approvalId)),
      () => {},
    );
    return () => controller.abort();
  }, [approvalId, sessionKey, until]);
  return story;
};

/** How often it is looked at whether a call has ended, ms. */
const everyMs = 1_000;

/** How an approval ended, read from the commit `from` on until its end; `undefined`: not read. `null` before anything is known. */
export const useEnding = ({ approvalId, sessionKey }: Told, from: number | undefined): Ending | null => {
  const [ending, setEnding] = useState<Ending | null>(null);
  useEffect(() => {
    setEnding(null);
    if (from === undefined) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    let after = `${from - 1}`;
    const told: NatterEvent[] = [];
    const read = async (): Promise<void> => {
      const query = { after, limit: pageEvents, type: endingTypes };
      const { events, next, more } = await client.get<EventPage>(sessionPath(sessionKey, '/events'), { query, signal });
      told.push(...events);
      after = next;
      const found = endingOf(told, approvalId);
      if (signal.aborted) return;
      setEnding(found);
      if (!found.isOver) waiting = setTimeout(attempt, more ? 0 : everyMs);
    };
    const attempt = (): void => {
      read().catch((error: unknown) => {
        const isRefused = error instanceof NatterApiError && error.status < 500;
        if (!signal.aborted && !isRefused) waiting = setTimeout(attempt, everyMs);
      });
    };
    attempt();
    return () => {
      controller.abort();
      clearTimeout(waiting);
    };
  }, [approvalId, sessionKey, from]);
  return ending;
};
