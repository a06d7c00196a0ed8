import { useState } from 'preact/hooks';
import { go } from '../base/route.ts';
import { client, mayWrite, problemOf } from '../base/signed-in.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Icon } from '../parts/icon.tsx';

/** Continues the session from the chosen moment: a new generation under the same key, that has what was said until then. */
export const ForkButton = ({ sessionKey, seq }: { readonly sessionKey: string; readonly seq: number }) => {
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const fork = async (): Promise<void> => {
    setAsking(false);
    try {
      await client.sessions.fork(sessionKey, { at: seq });
      go(['sessions', sessionKey, 'chat']);
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  if (!mayWrite()) return null;
  return (
    <>
      <button type="button" class="button" disabled={seq === 0} onClick={() => setAsking(true)}>
        <Icon name="fork" /> Fork from here
      </button>
      {problem !== null && (
        <p class="approval-problem" role="alert">
          {problem}
        </p>
      )}
      {isAsking && (
        <Confirm title={`Continue from sequence ${seq}?`} words="Fork" yes={() => void fork()} no={() => setAsking(false)}>
          <p>
            {sessionKey} begins a new generation that knows what was said up to here. What came after stays in the log, and is no
            part of the conversation any more. Nothing is executed again.
          </p>
        </Confirm>
      )}
    </>
  );
};
