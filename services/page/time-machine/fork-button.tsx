import { useState } from 'preact/hooks';
import { go } from '../base/route.ts';
import { client, mayWrite } from '../base/signed-in.ts';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Icon } from '../parts/icon.tsx';

/** Continues the session from the chosen moment: a new generation under the same key, that knows what was said until then. */
export const ForkButton = ({ sessionKey, seq }: { readonly sessionKey: string; readonly seq: number }) => {
  const [isAsking, setAsking] = useState(false);
  const act = useAct();
  const fork = async (): Promise<void> => {
    setAsking(false);
    if (await act.run(() => client.sessions.fork(sessionKey, { at: seq }), 'Forked')) go(['sessions', sessionKey, 'chat']);
  };
  if (!mayWrite()) return null;
  return (
    <>
      <button type="button" class="button" disabled={seq === 0 || act.isBusy} onClick={() => setAsking(true)}>
        <Icon name="fork" /> Fork from here
      </button>
      <ActOutcome act={act} />
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
