import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Verdict } from '../../../shared/client/main.ts';
import { draftOf, keepDraft } from '../base/draft.ts';
import { answer, given } from './answer.ts';

const mostCharacters = 2_000;

interface Props {
  readonly approvalId: string;
  readonly sessionKey: string;
  readonly onceOnly: boolean;
}

const draftName = (approvalId: string): string => `${approvalId} denied`;

/** Once a question is answered, nobody wants what was written against it any more. */
export const dropReason = (approvalId: string): void => keepDraft(draftName(approvalId), null);

/**
 * The answers to a question whether a call may run. Who denies it may say why, which is kept until it is answered; meanwhile nothing allows
 * the call, as the reason would be lost.
 */
export const ApprovalButtons = ({ approvalId, sessionKey, onceOnly }: Props) => {
  const [reason, setReason] = useState(draftOf(draftName(approvalId)));
  const [lacksReason, lackReason] = useState(false);
  const keep = (text: string | null): void => {
    setReason(text);
    lackReason(false);
    keepDraft(draftName(approvalId), text);
  };
  const toggle = useRef<HTMLButtonElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const isOpen = reason !== null;
  const wasOpen = useRef(isOpen);
  // One that was left open does not take the focus when it is shown again.
  useLayoutEffect(() => {
    if (isOpen !== wasOpen.current) (isOpen ? field : toggle).current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  const isSending = given.value[approvalId]?.state === 'sending';
  const deny = (): void => void answer(approvalId, sessionKey, 'deny', reason?.trim() || undefined);
  const button = (verdict: Verdict, words: string, style: string) => (
    <button
      type="button"
      // Its room is kept, so that no answer comes to stand where "Cancel" was.
      class={`button ${style} ${isOpen ? 'approval-absent' : ''}`}
      data-key={verdict === 'allow-once' ? 'allow' : undefined}
      disabled={isSending || isOpen}
      onClick={() => void answer(approvalId, sessionKey, verdict)}
    >
      {words}
    </button>
  );
  return (
    <form
      class="approval-answers"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isSending) deny();
      }}
    >
      {isOpen && (
        <label class="field">
          <span>Why you deny it. The agent is told; Enter denies.</span>
          <input
            type="text"
            ref={field}
            maxLength={mostCharacters}
            value={reason}
            onInput={(event) => keep(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') keep(null);
              // Whoever came here to give a reason does not mean to deny without one.
              if (event.key !== 'Enter' || reason.trim() !== '') return;
              event.preventDefault();
              lackReason(true);
            }}
          />
        </label>
      )}
      {lacksReason && (
        <p class="hint" role="alert">
          Write a reason first. To give none, press <b>Deny</b>.
        </p>
      )}
      <div class="approval-buttons">
        {button('allow-once', 'Allow once', 'button-first')}
        {!onceOnly && button('allow-always', 'Always allow this call', '')}
        <button type="submit" class={`button ${isOpen ? 'button-first' : ''}`} data-key="deny" disabled={isSending}>
          Deny
        </button>
        {isOpen ? (
          <button type="button" class="button button-quiet" onClick={() => keep(null)}>
            Cancel
          </button>
        ) : (
          <button type="button" class="button button-quiet" data-key="reason" ref={toggle} onClick={() => keep('')}>
            Deny with a reason…
          </button>
        )}
      </div>
    </form>
  );
};
