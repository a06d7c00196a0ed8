import type { ComponentChildren } from 'preact';
import type { PendingApproval } from '../../../shared/client/main.ts';
import { linkTo } from '../base/route.ts';
import { isApprover } from '../base/signed-in.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { nameBy } from '../finding/session-name.ts';
import { plainLine } from '../parts/one-line.ts';
import { personOf } from '../parts/person.ts';
import { Time } from '../parts/time.tsx';
import type { ApprovalStory } from './approval-story.ts';
import type { Ending } from './ending.ts';
import { SessionNow } from './session-now.tsx';
import { WhereItRuns } from './where-it-runs.tsx';

const messageCharacters = 160;
const narrow = matchMedia('(width < 480px)');

interface FoldedProps {
  /** What they tell. */
  readonly words: string;
  readonly children: ComponentChildren;
}

/** Facts that a narrow screen folds, so that its answers, or what became of it, are in sight with the question. */
export const FoldedFacts = ({ words, children }: FoldedProps) => {
  const facts = <dl class="approval-facts">{children}</dl>;
  if (!narrow.matches) return facts;
  return (
    <details class="approval-more">
      <summary>{words}</summary>
      {facts}
    </details>
  );
};

/** In which session it was asked: all that is told above the answers, and known at once, so that they stay where they are. */
export const AskedIn = ({ sessionKey, sessionName }: Pick<PendingApproval, 'sessionKey' | 'sessionName'>) => (
  <dl class="approval-facts">
    <dt>Session</dt>
    <dd>
      {isApprover() ? <span title={sessionKey}>{nameBy(sessionKey, sessionName)}</span> : <SessionLink sessionKey={sessionKey} />}
    </dd>
  </dl>
);

interface Props {
  readonly approval: Pick<PendingApproval, 'sessionKey' | 'action'>;
  readonly story: ApprovalStory;
  /** An answer changes the session, which is shown as it is now. Default: no. */
  readonly isWaiting?: boolean;
  /** The workspace's path, where this sign-in may know it. */
  readonly workspace: string | undefined;
  /** How it ended, as far as it is known. */
  readonly ending: Ending | null;
}

/** Who asked, on which message, how the session is now, and where the call runs. */
export const ApprovalFacts = ({ approval, story, isWaiting = false, workspace, ending }: Props) => {
  const { sessionKey, action } = approval;
  const { message, askedSeq, host } = story;
  return (
    <FoldedFacts words="Who asked, and where it runs">
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
      <WhereItRuns action={action} workspace={workspace} host={host} ending={ending} />
    </FoldedFacts>
  );
};
