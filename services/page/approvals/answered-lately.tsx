import { useEffect, useState } from 'preact/hooks';
import type { EventPage, PendingApproval } from '../../../shared/client/main.ts';
import { linkTo } from '../base/route.ts';
import { client } from '../base/signed-in.ts';
import { SessionLink } from '../parts/session-link.tsx';
import { Time } from '../parts/time.tsx';
import { answerText } from './answer-text.ts';
import { type Answered, answeredIn } from './answered.ts';
import { actionText } from './command-line.ts';

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

const Answer = ({ one }: { readonly one: Answered }) => {
  const { action, sessionKey, seq, at } = one;
  return (
    <li>
      <p>
        <b>{answerText(one)}</b>, <Time at={at} exact />
      </p>
      {action !== undefined && <p class="approval-action">{actionText(action)}</p>}
      <p class="hint">
        In <SessionLink sessionKey={sessionKey} />.{' '}
        <a href={linkTo(['sessions', sessionKey, 'time'], { at: `${seq}` })}>Show that moment</a>
      </p>
    </li>
  );
};

/** What was answered lately, by whom and when. All of it stays in the log. */
export const AnsweredLately = ({ answered }: { readonly answered: readonly Answered[] }) =>
  answered.length === 0 ? null : (
    <section class="answered" aria-labelledby="answered-title">
      <h2 id="answered-title">Answered lately</h2>
      <ul>
        {answered.map((one) => (
          <Answer key={one.approvalId} one={one} />
        ))}
      </ul>
      <p class="hint">
        Older answers are <a href={linkTo(['events'], { type: 'approval_resolved' })}>among the events</a>.
      </p>
    </section>
  );
