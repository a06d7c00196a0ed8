import type { PendingApproval } from '../../../shared/client/main.ts';
import { linkTo } from '../base/route.ts';
import { isApprover } from '../base/signed-in.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { nameBy } from '../finding/session-name.ts';
import { plainLine } from '../parts/one-line.ts';
import { personOf } from '../parts/person.ts';
import { Time } from '../parts/time.tsx';
import type { ApprovalStory } from './approval-story.ts';
import { SessionNow } from './session-now.tsx';
import { WhereItRuns } from './where-it-runs.tsx';

const messageCharacters = 160;

interface Props {
  readonly approval: Pick<PendingApproval, 'sessionKey' | 'sessionName' | 'action'>;
  readonly story: ApprovalStory;
  /** An answer changes the session, which is shown as it is now. Default: no. */
  readonly isWaiting?: boolean;
  /** The workspace's path, where this sign-in may know it. */
  readonly workspace: string | undefined;
  /** How it was answered, if it was. */
  readonly verdict: NonNullable<ApprovalStory['answer']>['verdict'] | undefined;
}

/** Who asked, on which message, in which session, and where the call runs. */
export const ApprovalFacts = ({ approval, story, isWaiting = false, workspace, verdict }: Props) => {
  const { sessionKey, sessionName, action } = approval;
  const { message, askedSeq, host } = story;
  return (
    <dl class="approval-facts">
      <dt>Session</dt>
      <dd>
        {isApprover() ? (
          <span title={sessionKey}>{nameBy(sessionKey, sessionName)}</span>
        ) : (
          <SessionLink sessionKey={sessionKey} />
        )}
      </dd>
      {message && (
        <>
          <dt>Asked by</dt>
          <dd>
            {personOf(message.sender, message.actor)}, <Time at={message.at} exact />: “
            {plainLine(message.text, messageCharacters)}”{' '}
            <a href={linkTo(['sessions', sessionKey, 'time'], { at: `${askedSeq ?? message.seq}` })}>Show when it was asked</a>
          </dd>
        </>
      )}
      {isWaiting && !isApprover() && <SessionNow sessionKey={sessionKey} story={story} />}
      <WhereItRuns action={action} workspace={workspace} host={host} verdict={verdict} />
    </dl>
  );
};
