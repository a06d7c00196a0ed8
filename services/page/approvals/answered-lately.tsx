import { useEffect, useState } from 'preact/hooks';
import type { EventPage, PendingApproval } from '../../../shared/client/main.ts';
import { linkTo } from '../base/route.ts';
import { client } from '../base/signed-in.ts';
import { Time } from '../parts/time.tsx';
import { answerText } from './answer-text.ts';
import { type Answered, answeredIn } from './answered.ts';
import { ApprovalFacts } from './approval-facts.tsx';
import { ApprovalLink } from './approval-link.tsx';
import { AskedAction } from './asked-action.tsx';
import { useStory } from './use-story.ts';

/** How many events are looked through, and how many answers are shown. */
const [pageEvents, mostAnswers] = [60, 10];

/** The last answers in all sessions, newest first. Read again when another call waits, or one no longer does; empty for who may read no events. */
export const useAnswered = (waiting: readonly PendingApproval[] | null): readonly Answered[] => {
  const [answered, setAnswered] = useState<readonly Answered[]>([]);
  const ids = waiting?.map(({ approvalId }) => approvalId).join(' ');
  useEffect(() => {
    const controller = new AbortController();
    const query = { before: 'end', limit: pageEvents, type: ['approval_requested', 'approval_resolved'] };
    client.get<EventPage>('/v1/events', { query, signal: controller.signal }).then(
      ({ events }) => setAnswered(answeredIn(events).slice(0, mostAnswers)),
      () => {},
    );
    return () => controller.abort();
  }, [ids]);
  return answered;
};

interface AnswerProps {
  readonly one: Answered;
  /** The workspace's path, where this sign-in may know it. */
  readonly workspace: string | undefined;
}

const Answer = ({ one, workspace }: AnswerProps) => {
  const { approvalId, action = '', sessionKey, seq, at } = one;
  const story = useStory(one, { until: seq });
  return (
    <li>
      <p>
        <b>{answerText(one)}</b>, <Time at={at} exact />{' '}
        <a href={linkTo(['sessions', sessionKey, 'time'], { at: `${seq}` })}>Show the answer</a>{' '}
        <ApprovalLink approvalId={approvalId} />
      </p>
      {action !== '' && <AskedAction action={action} />}
      <ApprovalFacts approval={{ sessionKey, action }} story={story} workspace={workspace} verdict={one.verdict} />
    </li>
  );
};

interface Props {
  readonly answered: readonly Answered[];
  readonly workspace: string | undefined;
}

/** What was answered lately: by whom and when, who asked, and where it ran. All of it stays in the log. */
export const AnsweredLately = ({ answered, workspace }: Props) =>
  answered.length === 0 ? null : (
    <section class="answered" aria-labelledby="answered-title">
      <h2 id="answered-title">Answered lately</h2>
      <ul>
        {answered.map((one) => (
          <Answer key={one.approvalId} one={one} workspace={workspace} />
        ))}
      </ul>
      <p class="hint">
        Older answers are <a href={linkTo(['events'], { type: 'approval_resolved' })}>among the events</a>.
      </p>
    </section>
  );
