import { useEffect, useState } from 'preact/hooks';
import type { EventPage, PendingApproval } from '../../../shared/client/main.ts';
import { linkTo } from '../base/route.ts';
import { client, isApprover } from '../base/signed-in.ts';
import { Time } from '../parts/time.tsx';
import { answerText, unansweredText } from './answer-text.ts';
import { type Question, questionsIn } from './answered.ts';
import { ApprovalFacts, AskedIn } from './approval-facts.tsx';
import { ApprovalLink } from './approval-link.tsx';
import { AskedAction } from './asked-action.tsx';
import type { Ending } from './ending.ts';
import { Outcome } from './outcome.tsx';
import { useEnding, useStory } from './use-story.ts';

/** How many events are looked through, and how many questions are shown. */
const [pageEvents, mostQuestions] = [60, 10];

/**
 * The last questions of all sessions that do not wait, newest first. Read again when another call waits, or one no longer does; empty for who
 * may read no events.
 */
export const useRecent = (waiting: readonly PendingApproval[] | null): readonly Question[] => {
  const [questions, setQuestions] = useState<readonly Question[]>([]);
  const open = new Set(waiting?.map(({ approvalId }) => approvalId));
  const ids = [...open].join(' ');
  useEffect(() => {
    if (isApprover()) return undefined;
    const controller = new AbortController();
    const query = { before: 'end', limit: pageEvents, type: ['approval_requested', 'approval_resolved'] };
    client.get<EventPage>('/v1/events', { query, signal: controller.signal }).then(
      ({ events }) => setQuestions(questionsIn(events)),
      () => {},
    );
    return () => controller.abort();
  }, [ids]);
  return waiting === null ? [] : questions.filter(({ approvalId }) => !open.has(approvalId)).slice(0, mostQuestions);
};

interface OneProps {
  readonly one: Question;
  /** The workspace's path, where this sign-in may know it. */
  readonly workspace: string | undefined;
}

/** Not shown before the log says how it ended: a question may be asked that is not listed as waiting yet. */
const One = ({ one, workspace }: OneProps) => {
  const { approvalId, action = '', sessionKey, askedSeq, answer } = one;
  const approval = { sessionKey, action };
  const story = useStory(one, answer?.seq ?? askedSeq);
  const read = useEnding(one, answer?.seq ?? askedSeq);
  const ending: Ending | null = read ?? (answer ? { answer, isOver: answer.verdict !== 'granted' } : null);
  const over = answer ?? ending?.unanswered;
  if (over === undefined) return null;
  return (
    <li>
      <p>
        <b>{answer ? answerText(answer) : ending?.unanswered && unansweredText(ending.unanswered)}</b>,{' '}
        <Time at={over.at} exact />{' '}
        <a href={linkTo(['sessions', sessionKey, 'time'], { at: `${over.seq}` })}>
          {answer ? 'Show the answer' : 'Show the end'}
        </a>{' '}
        <ApprovalLink approvalId={approvalId} />
      </p>
      {action !== '' && <AskedAction action={action} />}
      <AskedIn sessionKey={sessionKey} />
      {read !== null && <Outcome ending={read} />}
      <ApprovalFacts {...{ approval, story, workspace, ending }} />
    </li>
  );
};

interface Props {
  readonly questions: readonly Question[];
  readonly workspace: string | undefined;
}

/** The questions that were answered lately, or ended without an answer: by whom and when, who asked, and what the call did. All of it stays in the log. */
export const RecentApprovals = ({ questions, workspace }: Props) =>
  questions.length === 0 ? null : (
    <section class="answered" aria-labelledby="answered-title">
      <h2 id="answered-title">Recent approvals</h2>
      <ul>
        {questions.map((one) => (
          <One key={one.approvalId} one={one} workspace={workspace} />
        ))}
      </ul>
      <p class="hint">
        Older ones are <a href={linkTo(['events'], { type: 'approval_requested' })}>among the events</a>.
      </p>
    </section>
  );
