import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { spanText } from '../../../shared/kit/text/span-text.ts';
import { now } from '../base/now.ts';
import { mayAnswer } from '../base/signed-in.ts';
import { Icon } from '../parts/icon.tsx';
import { readable } from '../parts/json-text.ts';
import { Time } from '../parts/time.tsx';
import { given } from './answer.ts';
import { ApprovalButtons, dropReason } from './approval-buttons.tsx';
import { ApprovalLink } from './approval-link.tsx';
import { AskedAction } from './asked-action.tsx';

/** A call that waits for a person. */
export interface Asked {
  readonly approvalId: string;
  readonly sessionKey: string;
  readonly tool?: string | undefined;
  readonly action: string;
  readonly asks: 'run' | 'retry';
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly onceOnly: boolean;
  /** The arguments, as the model wrote them, where they are known. */
  readonly given?: string | undefined;
  /** How it was answered, if it was. */
  readonly answered?: string | undefined;
  readonly answeredAt?: number | undefined;
}

interface CardProps {
  readonly asked: Asked;
  /** It is brought into sight, marked, and has the focus. Default: no. */
  readonly isWanted?: boolean;
  /** Where it was asked, above the buttons. */
  readonly place?: ComponentChildren;
  /** What became of it, below the answer. */
  readonly children?: ComponentChildren;
  /** What is told besides: last, as some of it comes late and some can be opened. */
  readonly facts?: ComponentChildren;
}

/** The question whether a call may run, with all that it would do, and the answer. */
export const ApprovalCard = ({ asked, isWanted = false, place, children, facts }: CardProps) => {
  const { approvalId, tool, action, asks, requestedAt, expiresAt } = asked;
  const mine = given.value[approvalId];
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isWanted) return;
    card.current?.scrollIntoView({ block: 'center' });
    card.current?.focus({ preventScroll: true });
  }, [isWanted]);
  const said = useRef<HTMLParagraphElement>(null);
  const wasSending = useRef(false);
  // The buttons are gone once they are answered; whoever pressed one by keyboard goes on from the answer.
  useEffect(() => {
    if (wasSending.current && mine?.state === 'sent') said.current?.focus();
    wasSending.current = mine?.state === 'sending';
  }, [mine?.state]);
  const leftMs = expiresAt - now.value;
  const answered =
    asked.answered ?? (mine?.state === 'sent' ? mine.text : leftMs <= 0 ? 'Expired: nobody answered in time' : undefined);
  const isAnswered = answered !== undefined;
  useEffect(() => {
    if (isAnswered) dropReason(approvalId);
  }, [isAnswered, approvalId]);
  return (
    <article
      class={`approval ${answered === undefined ? '' : 'approval-over'} ${isWanted ? 'approval-wanted' : ''}`}
      aria-label={`Approval: ${action}`}
      ref={card}
      // Whoever clicks on it has chosen it, for the keys that answer.
      tabIndex={-1}
    >
      <header>
        <Icon name="approvals" />
        <strong>
          {answered !== undefined ? 'Asked to run' : 'Allow this to run'}
          {asks === 'retry' && ' again'}
          {answered === undefined && '?'}
        </strong>
        {tool !== undefined && <code>{tool}</code>}
        <span class="approval-when">
          <Time at={requestedAt} /> <ApprovalLink approvalId={approvalId} />
        </span>
      </header>
      <AskedAction action={action} />
      {asks === 'retry' && <p class="hint">It was started before, and nobody knows whether it took effect.</p>}
      {asked.given !== undefined && asked.given !== '' && <pre class="approval-given">{readable(asked.given)}</pre>}
      {place}
      {answered !== undefined ? (
        <p class="approval-answer" ref={said} tabIndex={-1}>
          {answered}
          {asked.answeredAt !== undefined && (
            <>
              , <Time at={asked.answeredAt} exact />
            </>
          )}
        </p>
      ) : mayAnswer() ? (
        <ApprovalButtons approvalId={approvalId} sessionKey={asked.sessionKey} onceOnly={asked.onceOnly} />
      ) : (
        <p class="hint">This sign-in only reads.</p>
      )}
      {answered === undefined && (
        <p class="hint">
          Without an answer it expires in {spanText(leftMs)} (<Time at={expiresAt} exact />) and does not run.
        </p>
      )}
      {mine?.state === 'problem' && (
        <p class="approval-problem" role="alert">
          {mine.text}
        </p>
      )}
      {children}
      {facts}
    </article>
  );
};
