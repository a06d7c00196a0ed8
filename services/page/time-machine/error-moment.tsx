import { mayWrite } from '../base/signed-in.ts';
import { failureAdvice } from '../chat/failed.ts';
import { ResetButton } from '../chat/reset-button.tsx';
import { eventWords } from '../parts/event-words.ts';
import { ErrorMark } from '../parts/icon.tsx';
import { eventText } from '../parts/person.ts';
import type { Past } from '../past/past.ts';
import { ForkButton } from './fork-button.tsx';
import { forkBefore, leavesBehind, placeBeforeFailed } from './fork-words.ts';

/**
 * Says right before an error that it comes next, and at the error that it is one; each leads to the other, by one button that keeps the focus.
 * Of an answer that failed, a fork can leave the message behind as well, unless "Fork from here" does that.
 */
export const ErrorMoment = ({ past }: { readonly past: Past }) => {
  // What comes next may be read later than this moment.
  void past.count.value;
  const place = past.place.value;
  const here = past.timeline.errorAt(place);
  const next = past.timeline.errorAt(place + 1);
  const error = here ?? next;
  if (error === undefined) return null;
  const before = past.isLive ? placeBeforeFailed(past.timeline, here ? place : place + 1) : null;
  const words = `${eventWords(error)}, ${eventText(error)}`;
  const advice = error.type === 'turn_failed' ? failureAdvice(error) : null;
  return (
    <div class="moment-waits moment-error">
      <p>
        <ErrorMark />
        {here ? `This commit is the error: ${words}` : `Right before an error: ${words}`}
        {!here && past.isLive && error.type === 'turn_failed' && leavesBehind(past.timeline, place)}
      </p>
      {advice !== null && <p class="hint">{advice}</p>}
      <button type="button" class="button" onClick={() => past.goTo(here ? place - 1 : place + 1)}>
        {here ? 'Show the commit before' : 'Show the error'}
      </button>
      {before === 0 && <p class="hint">It was the first message: a reset begins without it.</p>}
      {before === 0 && mayWrite() && <ResetButton sessionKey={past.key} style="" words="Reset this session…" />}
      {before !== null && before > 0 && before !== place && (
        <ForkButton past={past} place={before} words={forkBefore(past.timeline, before)} />
      )}
    </div>
  );
};
