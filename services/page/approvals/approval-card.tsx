import type { Verdict } from '../../../shared/client/main.ts';
import { now } from '../base/now.ts';
import { mayAnswer } from '../base/signed-in.ts';
import { Icon } from '../parts/icon.tsx';
import { readable } from '../parts/json-text.ts';
import { spanText, Time } from '../parts/time.tsx';
import { answer, given } from './answer.ts';

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
}

const Buttons = ({ asked }: { readonly asked: Asked }) => {
  const { approvalId, sessionKey, onceOnly } = asked;
  const isSending = given.value[approvalId]?.state === 'sending';
  const button = (verdict: Verdict, words: string, style: string) => (
    <button
      type="button"
      class={`button ${style}`}
      disabled={isSending}
      onClick={() => void answer(approvalId, sessionKey, verdict)}
    >
      {words}
    </button>
  );
  return (
    <div class="approval-buttons">
      {button('allow-once', 'Allow once', 'button-first')}
      {!onceOnly && button('allow-always', 'Always allow this call', '')}
      {button('deny', 'Deny', 'button-danger')}
    </div>
  );
};

/** The question whether a call may run, with all that it would do, and the answer. */
export const ApprovalCard = ({ asked }: { readonly asked: Asked }) => {
  const { approvalId, tool, action, asks, requestedAt, expiresAt } = asked;
  const mine = given.value[approvalId];
  const leftMs = expiresAt - now.value;
  const answered =
    asked.answered ?? (mine?.state === 'sent' ? mine.text : leftMs <= 0 ? 'Expired: nobody answered in time' : undefined);
  return (
    <article class={`approval ${answered === undefined ? '' : 'approval-over'}`} aria-label={`Approval: ${action}`}>
      <header>
        <Icon name="approvals" />
        <strong>{asks === 'retry' ? 'May it run again?' : 'May it run?'}</strong>
        {tool !== undefined && <code>{tool}</code>}
        <span class="approval-when">
          <Time at={requestedAt} />
        </span>
      </header>
      <p class="approval-action">{action}</p>
      {asks === 'retry' && <p class="hint">It was started before, and nobody knows whether it took effect.</p>}
      {asked.given !== undefined && asked.given !== '' && <pre class="approval-given">{readable(asked.given)}</pre>}
      {answered !== undefined ? (
        <p class="approval-answer">{answered}</p>
      ) : mayAnswer() ? (
        <Buttons asked={asked} />
      ) : (
        <p class="hint">This sign-in only reads.</p>
      )}
      {answered === undefined && <p class="hint">Without an answer it expires in {spanText(leftMs)}.</p>}
      {mine?.state === 'problem' && (
        <p class="approval-problem" role="alert">
          {mine.text}
        </p>
      )}
    </article>
  );
};
