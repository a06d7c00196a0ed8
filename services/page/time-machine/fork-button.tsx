import { useState } from 'preact/hooks';
import { writeIn } from '../base/new-chat.ts';
import { client, mayWrite } from '../base/signed-in.ts';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Icon } from '../parts/icon.tsx';
import type { Past } from '../past/past.ts';
import { forkWords, givenModel } from './fork-words.ts';

interface ForkProps {
  readonly past: Past;
  /** How many commits the fork keeps. Default: up to the chosen moment. */
  readonly place?: number;
  readonly words?: string;
}

/** Forks the session at a moment: a new generation under the same key, that knows what was said until then. */
export const ForkButton = ({ past, place = past.place.value, words = 'Fork from here' }: ForkProps) => {
  const [isAsking, setAsking] = useState(false);
  const [dropsModel, setDropsModel] = useState(false);
  const act = useAct();
  const { key } = past;
  const fork = async (): Promise<void> => {
    setAsking(false);
    const at = past.timeline.commits[place - 1]?.seq ?? 0;
    const forked = async (): Promise<void> => {
      await client.sessions.fork(key, { at });
      if (dropsModel) await client.sessions.patch(key, { model: null });
    };
    if (await act.run(forked, 'Forked')) writeIn(key);
  };
  const model = isAsking ? givenModel(past.timeline) : undefined;
  if (!mayWrite()) return null;
  return (
    <>
      <button type="button" class="button" disabled={place === 0 || act.isBusy} onClick={() => setAsking(true)}>
        <Icon name="fork" /> {words}
      </button>
      <ActOutcome act={act} />
      {isAsking && (
        <Confirm title={`${words}?`} words="Fork" yes={() => void fork()} no={() => setAsking(false)}>
          {forkWords(past.timeline, place).map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
          {model !== undefined && (
            <label class="fork-model">
              <input type="checkbox" checked={dropsModel} onChange={(event) => setDropsModel(event.currentTarget.checked)} />
              Use the agent’s own model again, not {model}
            </label>
          )}
        </Confirm>
      )}
    </>
  );
};
