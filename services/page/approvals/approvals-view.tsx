import { useRef } from 'preact/hooks';
import type { PendingApproval } from '../../../shared/client/main.ts';
import { isApprover } from '../base/signed-in.ts';
import { Empty, Problem } from '../parts/empty.tsx';
import { Time } from '../parts/time.tsx';
import { given } from './answer.ts';
import { answerText } from './answer-text.ts';
import { AnsweredLately, useAnswered } from './answered-lately.tsx';
import { ApprovalCard } from './approval-card.tsx';
import { ApprovalFacts } from './approval-facts.tsx';
import { approvals, approvalsProblem, readApprovals } from './approval-list.ts';
import type { ApprovalStory } from './approval-story.ts';
import { useStory } from './use-story.ts';
import { useWorkspace } from './where-it-runs.tsx';

interface OneProps {
  readonly approval: PendingApproval;
  readonly isOver: boolean;
  /** The workspace's path, where this sign-in may know it. */
  readonly workspace: string | undefined;
}

const outcomeWords: Readonly<Record<string, string>> = {
  ok: 'It ran',
  error: 'It ran and failed',
  denied: 'It did not run',
  expired: 'It did not run',
  unknown: 'Nobody knows whether it took effect',
};
/** That a call does not run is no failure: a person said so, or nobody answered. */
const failures: ReadonlySet<string> = new Set(['error', 'unknown']);

const Outcome = ({ story: { result, answer } }: { readonly story: ApprovalStory }) => {
  if (result === undefined) return answer?.verdict === 'granted' ? <p class="hint">It runs…</p> : null;
  return (
    <>
      <p class={failures.has(result.outcome) ? 'act-failed' : 'act-done'}>
        {outcomeWords[result.outcome] ?? result.outcome}, <Time at={result.at} exact />
      </p>
      {result.text !== '' && <pre class="approval-given">{result.text}</pre>}
    </>
  );
};

const One = ({ approval, isOver, workspace }: OneProps) => {
  const story = useStory(approval, { isOver });
  const { answer } = story;
  const words = answer && answerText(answer);
  const answered =
    words ?? (isOver && given.value[approval.approvalId]?.state !== 'sent' ? 'Answered elsewhere, or stopped' : undefined);
  return (
    <li>
      <ApprovalCard
        asked={{ ...approval, answered, answeredAt: answer?.at }}
        facts={<ApprovalFacts approval={approval} story={story} workspace={workspace} verdict={answer?.verdict} />}
      >
        {isOver && <Outcome story={story} />}
      </ApprovalCard>
    </li>
  );
};

/** The inbox: every call of a tool that waits for a person, in all sessions, the oldest first, and below them the last answers. */
export const ApprovalsView = () => {
  const seen = useRef(new Map<string, PendingApproval>());
  const workspace = useWorkspace();
  const waiting = approvals.value;
  const answered = useAnswered(waiting).filter(({ approvalId }) => !seen.current.has(approvalId));
  for (const approval of waiting ?? []) seen.current.set(approval.approvalId, approval);
  const open = new Set(waiting?.map(({ approvalId }) => approvalId));
  const list = [...seen.current.values()].sort((one, other) => one.requestedAt - other.requestedAt);
  return (
    <section class="pane approvals" aria-labelledby="approvals-title">
      <header class="pane-head">
        <h1 id="approvals-title">Approvals</h1>
        <p class="hint">Calls that wait for a person, oldest first. An answer is kept, whatever restarts.</p>
      </header>
      {approvalsProblem.value !== null && <Problem text={approvalsProblem.value} again={() => void readApprovals()} />}
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
            <One key={approval.approvalId} approval={approval} isOver={!open.has(approval.approvalId)} workspace={workspace} />
          ))}
        </ul>
      )}
      <AnsweredLately answered={answered} workspace={workspace} />
    </section>
  );
};
