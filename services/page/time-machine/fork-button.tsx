import { useState } from 'preact/hooks';
import { writeIn } from '../base/new-chat.ts';
import { client, mayWrite } from '../base/signed-in.ts';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Icon } from '../parts/icon.tsx';
import type { Past } from '../past/past.ts';
import { forkHere, forkWords, givenModel } from './fork-words.ts';

interface ForkProps {
  readonly past: Past;
  /** How many commits the fork keeps. Default: up to the chosen moment. */
  readonly place?: number;
  /** Default: by the error of that moment. */
  readonly words?: string;
}

/** Forks the session at a moment: a new generation under the same key, that knows what was said until then. */
export const ForkButton = ({ past, place = past.place.value, words }: ForkProps) => {
  /** The moment that it was asked for: what is recorded meanwhile is told, and changes it no more. */
  const [asked, ask] = useState<number | null>(null);
  const [dropsModel, setDropsModel] = useState(false);
  const act = useAct();
  const { key } = past;
  void past.count.value;
  const fork = async (from: number): Promise<void> => {
    ask(null);
    const at = past.timeline.commits[from - 1]?.seq ?? 0;
    const forked = async (): Promise<void> => {
      await client.sessions.fork(key, { at });
      if (dropsModel) await client.sessions.patch(key, { model: null });
    };
    if (await act.run(forked, 'Forked')) writeIn(key);
  };
  const model = asked === null ? undefined : givenModel(past.timeline);
  if (!mayWrite()) return null;
  return (
    <>
      <button
        type="button"
        class={`button ${words === undefined && past.timeline.errorAt(place) ? 'button-quiet' : ''}`}
        title="This session goes on from that commit, without what came later, which the log keeps; no new session is made"
        disabled={place === 0 || act.isBusy}
        onClick={() => ask(place)}
      >
        <Icon name="fork" /> {words ?? forkHere(past.timeline, place)}
      </button>
      <ActOutcome act={act} />
      {asked !== null && (
        <Confirm
          title={`${words ?? forkHere(past.timeline, asked)}?`}
          words="Fork"
          yes={() => void fork(asked)}
          no={() => ask(null)}
        >
          {forkWords(past.timeline, asked).map((sentence) => (
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
