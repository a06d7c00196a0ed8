import { useState } from 'preact/hooks';
import { client } from '../base/signed-in.ts';
import { nameOfKey } from '../finding/known-names.ts';
import { ActOutcome, coveringMs, useAct } from '../parts/act.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { askedOnPage } from '../parts/reset-words.ts';

interface ResetProps {
  readonly sessionKey: string;
  readonly style: string;
  /** Default: `Reset`. */
  readonly words?: string;
}

/** Begins a session afresh, once that is confirmed. */
export const ResetButton = ({ sessionKey, style, words = 'Reset' }: ResetProps) => {
  const [isAsking, setAsking] = useState(false);
  const act = useAct(coveringMs);
  const reset = (): void => {
    setAsking(false);
    void act.run(() => client.sessions.reset(sessionKey, { reason: askedOnPage }), 'Session reset');
  };
  return (
    <>
      <button type="button" class={`button ${style}`} disabled={act.isBusy} onClick={() => setAsking(true)}>
        {words}
      </button>
      <ActOutcome act={act} />
      {isAsking && (
        <Confirm title={`Reset “${nameOfKey(sessionKey)}”?`} words="Reset" no={() => setAsking(false)} yes={reset}>
          <p>
            The agent no longer knows what was said here, and an answer under way ends. The agent’s memories stay. The log keeps
            the conversation, and a fork in the time machine can go back.
          </p>
        </Confirm>
      )}
    </>
  );
};
