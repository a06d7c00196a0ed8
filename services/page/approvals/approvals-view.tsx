import type { PendingApproval } from '../../../shared/client/main.ts';
import { linkTo } from '../base/route.ts';
import { Empty, Problem } from '../parts/empty.tsx';
import { ApprovalCard } from './approval-card.tsx';
import { approvals, approvalsProblem, readApprovals } from './approval-list.ts';

const One = ({ approval }: { readonly approval: PendingApproval }) => (
  <li>
    <ApprovalCard asked={approval} />
    <p class="approval-where">
      In <a href={linkTo(['sessions', approval.sessionKey, 'chat'])}>{approval.sessionKey}</a>
    </p>
  </li>
);

/** The inbox: every call of a tool that waits for a person, in all sessions, the oldest first. */
export const ApprovalsView = () => {
  const list = approvals.value;
  return (
    <section class="pane approvals" aria-labelledby="approvals-title">
      <header class="pane-head">
        <h1 id="approvals-title">Approvals</h1>
        <p class="hint">Calls that wait for a person, oldest first. An answer is an event: it survives every restart.</p>
      </header>
      {approvalsProblem.value !== null && <Problem text={approvalsProblem.value} again={() => void readApprovals()} />}
      {list === null ? (
        <p class="loading">Reading…</p>
      ) : list.length === 0 ? (
        <Empty title="Nothing waits for you">
          <p>A call of a tool comes here when a rule of the configuration says that a person must allow it:</p>
          <pre>{"tools: { rules: [{ tool: 'exec', action: 'ask' }] }"}</pre>
        </Empty>
      ) : (
        <ul class="approval-list">
          {list.map((approval) => (
            <One key={approval.approvalId} approval={approval} />
          ))}
        </ul>
      )}
    </section>
  );
};
