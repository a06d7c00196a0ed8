import { useEffect, useState } from 'preact/hooks';
import { type EventPage, type PendingApproval, sessionPath } from '../../../shared/client/main.ts';
import { client } from '../base/signed-in.ts';
import { type ApprovalStory, storyOf } from './approval-story.ts';

const pageEvents = 100;
/** The events that a story is told of. */
const told = [
  ...['user_message', 'assistant_message', 'session_reset'],
  ...['turn_started', 'approval_requested', 'approval_resolved', 'tool_result'],
];
/** How often an approval that is answered is looked at until its call has ended, ms. */
const everyMs = 1_000;

interface Reading {
  /** It is answered: the story is read again until its end. */
  readonly isOver?: boolean;
  /** The sequence of the last commit that is of interest; default: the newest. */
  readonly until?: number;
}

type Told = Pick<PendingApproval, 'approvalId' | 'sessionKey'>;

/** The story of an approval. Empty for who may not read the session. */
export const useStory = ({ approvalId, sessionKey }: Told, { isOver = false, until }: Reading): ApprovalStory => {
  const [story, setStory] = useState<ApprovalStory>({});
  useEffect(() => {
    const controller = new AbortController();
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      const { signal } = controller;
      const query = { before: until === undefined ? 'end' : `${until + 1}`, limit: pageEvents, type: told };
      const { events } = await client.get<EventPage>(sessionPath(sessionKey, '/events'), { query, signal });
      const found = storyOf(events.toReversed(), approvalId);
      if (signal.aborted) return;
      setStory(found);
      const isWhole = found.result !== undefined || (found.answer !== undefined && found.answer.verdict !== 'granted');
      if (isOver && !isWhole) waiting = setTimeout(attempt, everyMs);
    };
    const attempt = (): void => {
      read().catch(() => {});
    };
    attempt();
    return () => {
      controller.abort();
      clearTimeout(waiting);
    };
  }, [approvalId, sessionKey, isOver, until]);
  return story;
};
