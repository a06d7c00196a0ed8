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
  /** What stands before the rest, and is never folded. */
  readonly first?: ComponentChildren;
  /** What the rest tells. */
  readonly words: string;
  readonly children: ComponentChildren;
}

/** The facts of a call. On a narrow screen most of them are folded: its answers, or what became of it, are to be in sight with the question. */
export const FoldedFacts = ({ first, words, children }: FoldedProps) => {
  const isFolded = narrow.matches;
  return (
    <>
      {(first !== undefined || !isFolded) && (
        <dl class="approval-facts">
          {first}
          {!isFolded && children}
        </dl>
      )}
      {isFolded && (
        <details class="approval-more">
          <summary>{words}</summary>
          <dl class="approval-facts">{children}</dl>
        </details>
      )}
    </>
  );
};

interface Props {
  readonly approval: Pick<PendingApproval, 'sessionKey' | 'sessionName' | 'action'>;
  readonly story: ApprovalStory;
  /** An answer changes the session, which is shown as it is now. Default: no. */
  readonly isWaiting?: boolean;
  /** The workspace's path, where this sign-in may know it. */
  readonly workspace: string | undefined;
  /** How it ended, as far as it is known. */
  readonly ending: Ending | null;
}

/** Who asked, on which message, in which session, and where the call runs. */
export const ApprovalFacts = ({ approval, story, isWaiting = false, workspace, ending }: Props) => {
  const { sessionKey, sessionName, action } = approval;
  const { message, askedSeq, host } = story;
  return (
    <FoldedFacts
      first={
        <>
          <dt>Session</dt>
          <dd>
            {isApprover() ? (
              <span title={sessionKey}>{nameBy(sessionKey, sessionName)}</span>
            ) : (
              <SessionLink sessionKey={sessionKey} />
            )}
          </dd>
        </>
      }
      words="Who asked, and where it runs"
    >
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
