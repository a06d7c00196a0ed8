import { useState } from 'preact/hooks';
import { counted } from '../../../shared/kit/text/counted.ts';
import { writeIn } from '../base/new-chat.ts';
import { client, mayWrite } from '../base/signed-in.ts';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Icon } from '../parts/icon.tsx';
import { Time } from '../parts/time.tsx';
import type { Past } from './past.ts';

/** What a fork at the chosen moment does here, before it is done. */
const Explanation = ({ past }: { readonly past: Past }) => {
  const { timeline, count, place, key } = past;
  const isAnswering = timeline.stateAfter(place.value).context.turn !== null;
  const commit = timeline.commits[place.value - 1];
  const after = timeline.saidBetween(place.value, count.value).length;
  return (
    <>
      <p>
        This is no second session: {key} itself goes on from {commit && <Time at={commit.at} exact />}. The agent knows what was
        said up to then
        {after === 0 ? '. Nothing was said after it.' : `, and no longer the ${counted(after, 'message')} after it.`}
      </p>
      <p>
        What comes after that moment is left behind: it stays in the log, can be compared with the fork, and one can go back to it
        the same way. Nothing is executed again, and what tools have done is not undone.
      </p>
      {isAnswering && (
        <p>
          <b>The question of this moment is not answered again.</b> Write on after the fork, or choose <i>Try again</i> below the
          question.
        </p>
      )}
    </>
  );
};

/** Continues the session from the chosen moment: a new generation under the same key, that knows what was said until then. */
export const ForkButton = ({ past }: { readonly past: Past }) => {
  const [isAsking, setAsking] = useState(false);
  const act = useAct();
  const place = past.place.value;
  const { key } = past;
  const fork = async (): Promise<void> => {
    setAsking(false);
    const at = past.timeline.commits[place - 1]?.seq ?? 0;
    if (await act.run(() => client.sessions.fork(key, { at }), 'Forked')) writeIn(key);
  };
  if (!mayWrite()) return null;
  return (
    <>
      <button type="button" class="button" disabled={place === 0 || act.isBusy} onClick={() => setAsking(true)}>
        <Icon name="fork" /> Fork from here
      </button>
      <ActOutcome act={act} />
      {isAsking && (
        <Confirm title={`Go on from commit ${place}?`} words="Fork" yes={() => void fork()} no={() => setAsking(false)}>
          <Explanation past={past} />
        </Confirm>
      )}
    </>
  );
};
