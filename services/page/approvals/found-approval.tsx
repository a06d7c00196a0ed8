import { linkTo } from '../base/route.ts';
import { Problem } from '../parts/empty.tsx';
import { answerText, unansweredText } from './answer-text.ts';
import { ApprovalCard } from './approval-card.tsx';
import { ApprovalFacts, AskedIn } from './approval-facts.tsx';
import { type FoundApproval, useFoundApproval } from './find-approval.ts';
import { Outcome } from './outcome.tsx';
import { useEnding, useStory } from './use-story.ts';

interface Props {
  readonly approvalId: string;
  /** The workspace's path, where this sign-in may know it. */
  readonly workspace: string | undefined;
}

const Found = ({ found: { asked, answer }, workspace }: Pick<Props, 'workspace'> & { readonly found: FoundApproval }) => {
  const { approvalId, key: sessionKey, tool, action, asks = 'run', at: requestedAt, expiresAt, onceOnly = false } = asked;
  const story = useStory({ approvalId, sessionKey }, asked.seq);
  const ending = useEnding({ approvalId, sessionKey }, asked.seq);
  const { unanswered } = ending ?? {};
  const answered = answer ? answerText(answer) : unanswered ? unansweredText(unanswered) : 'No answer is recorded';
  const approval = { sessionKey, action };
  const query = { at: `${answer?.seq ?? asked.seq}` };
  return (
    <ApprovalCard
      asked={{
        ...{ approvalId, sessionKey, tool, action, asks, requestedAt, expiresAt, onceOnly },
        ...{ answered, answeredAt: answer?.at ?? unanswered?.at },
      }}
      isWanted
      place={<AskedIn sessionKey={sessionKey} />}
      facts={<ApprovalFacts {...{ approval, story, workspace, ending }} />}
    >
      {ending !== null && <Outcome ending={ending} />}
      <p class="hint">
        <a href={linkTo(['sessions', sessionKey, 'time'], query)}>{answer ? 'Show the answer' : 'Show the question'}</a>
      </p>
    </ApprovalCard>
  );
};

/** The approval of an address that waits no longer: how it was answered, or that there is none. */
export const FoundOrNot = ({ approvalId, workspace }: Props) => {
  const search = useFoundApproval(approvalId);
  switch (search.state) {
    case 'looking':
      return <p class="loading">Looking for {approvalId} in the log…</p>;
    case 'problem':
      return <Problem text={search.text} />;
    case 'unseen':
      return (
        <p class="approval-none" role="status">
          {approvalId} does not wait for an answer. This sign-in does not see those that were answered.
        </p>
      );
    case 'done':
      return search.found === null ? (
        <p class="approval-none" role="status">
          There is no approval {approvalId}.
        </p>
      ) : (
        <Found found={search.found} workspace={workspace} />
      );
  }
};
