import { useRef } from 'preact/hooks';
import type { PendingApproval } from '../../../shared/client/main.ts';
import { route } from '../base/route.ts';
import { isApprover } from '../base/signed-in.ts';
import { Empty, Problem } from '../parts/empty.tsx';
import { given } from './answer.ts';
import { answerText, unansweredText } from './answer-text.ts';
import { ApprovalCard } from './approval-card.tsx';
import { ApprovalFacts, AskedIn } from './approval-facts.tsx';
import { approvals, approvalsProblem, readApprovals } from './approval-list.ts';
import { FoundOrNot } from './found-approval.tsx';
import { Outcome } from './outcome.tsx';
import { RecentApprovals, useRecent } from './recent-approvals.tsx';
import { useEnding, useStory } from './use-story.ts';
import { useWorkspace } from './where-it-runs.tsx';

interface OneProps {
  readonly approval: PendingApproval;
  readonly isOver: boolean;
  /** The address is that of this one. */
  readonly isWanted: boolean;
  /** The workspace's path, where this sign-in may know it. */
  readonly workspace: string | undefined;
}

const One = ({ approval, isOver, isWanted, workspace }: OneProps) => {
  const story = useStory(approval);
  const ending = useEnding(approval, isOver ? story.askedSeq : undefined);
  const { answer, unanswered } = ending ?? {};
  const words = answer ? answerText(answer) : unanswered && unansweredText(unanswered);
  const answered =
    words ?? (isOver && given.value[approval.approvalId]?.state !== 'sent' ? 'Answered elsewhere, or stopped' : undefined);
  return (
    <li>
      <ApprovalCard
        asked={{ ...approval, answered, answeredAt: (answer ?? unanswered)?.at }}
        isWanted={isWanted}
        place={<AskedIn {...approval} />}
        facts={
          <ApprovalFacts
            {...{ approval, story, workspace, ending }}
            isWaiting={answered === undefined && given.value[approval.approvalId]?.state !== 'sent'}
          />
        }
      >
        {ending !== null && <Outcome ending={ending} />}
      </ApprovalCard>
    </li>
  );
};

/**
 * The inbox: every call of a tool that waits for a person, in all sessions, the oldest first, and below them the last answers. An address
 * may name one of them by its id.
 */
const ApprovalsView = () => {
  const seen = useRef(new Map<string, PendingApproval>());
  const workspace = useWorkspace();
  const waiting = approvals.value;
  const wanted = route.value.path[1]?.toLowerCase();
  const recent = useRecent(waiting).filter(({ approvalId }) => approvalId !== wanted && !seen.current.has(approvalId));
  for (const approval of waiting ?? []) seen.current.set(approval.approvalId, approval);
  const open = new Set(waiting?.map(({ approvalId }) => approvalId));
  const isWaiting = ({ approvalId }: PendingApproval): boolean =>
    open.has(approvalId) && given.value[approvalId]?.state !== 'sent';
  const list = [...seen.current.values()].sort((one, other) => one.requestedAt - other.requestedAt);
  return (
    <section class="pane approvals" aria-labelledby="approvals-title">
      <header class="pane-head">
        <h1 id="approvals-title">Approvals</h1>
        <p class="hint">
          {list.length > 0 && !list.some(isWaiting)
            ? `Nothing waits.${isApprover() ? '' : ' When you leave this view, the answers here move to Recent approvals.'}`
            : 'Calls that wait for a person, oldest first. An answer is kept, whatever restarts.'}
        </p>
      </header>
      {approvalsProblem.value !== null && <Problem text={approvalsProblem.value} again={() => void readApprovals()} />}
      {waiting !== null && wanted !== undefined && !seen.current.has(wanted) && (
        <FoundOrNot approvalId={wanted} workspace={workspace} />
      )}
      {waiting === null ? (
        <p class="loading">Reading…</p>
      ) : list.length === 0 ? (
        <Empty title="Nothing to approve">
          <p>Nothing waits. A call of a tool that a person must allow appears here.</p>
          {isApprover() && <p>You may answer it; all else on this page needs another sign-in.</p>}
        </Empty>
      ) : (
        <ul class="approval-list">
          {list.map((approval) => (
            <One
              key={approval.approvalId}
              approval={approval}
              isOver={!open.has(approval.approvalId)}
              isWanted={approval.approvalId === wanted}
              workspace={workspace}
            />
          ))}
        </ul>
      )}
      <RecentApprovals questions={recent} workspace={workspace} />
    </section>
  );
};

export default ApprovalsView;
