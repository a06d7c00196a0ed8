import { useMemo, useState } from 'preact/hooks';
import type { ShownState } from '../../../shared/domain/session/fold/evolve.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { modelText } from '../parts/model-words.ts';
import { StatusBadge } from '../parts/status.tsx';
import type { Past } from '../past/past.ts';
import { lastSaid } from '../past/said.ts';
import { hasFailed } from '../past/timeline.ts';
import { ApprovalMoment } from './approval-moment.tsx';
import { ErrorMoment } from './error-moment.tsx';
import { MomentMemories } from './moment-memories.tsx';
import { SaidLines } from './said-lines.tsx';

const [fewLines, manyLines] = [4, 200];

/** What the session was at a moment, in words: its state and its counts. */
export const MomentFacts = ({ past, state }: { readonly past: Past; readonly state: ShownState }) => {
  const { generation, messages, completedTurns, usage, queue, turn, settings } = state.context;
  if (generation === 0) return null;
  const place = past.place.value;
  const until = (marks: readonly number[]): readonly number[] => marks.filter((mark) => mark <= place);
  const [resets, forks] = [until(past.marksOf('reset')), until(past.marksOf('fork'))];
  const isFork = generation > 1 && (forks.at(-1) ?? 0) > (resets.at(-1) ?? 0);
  const begun = past.timeline.countAt(state.position.startedSeq - 1);
  const natters = past.timeline.nattersBetween(begun, place);
  return (
    <section class="card" aria-labelledby="moment-facts">
      <h2 id="moment-facts">The session at this moment</h2>
      <p class="moment-facts">
        <StatusBadge
          isPast
          status={state.status}
          hasFailed={state.status === 'idle' && hasFailed(past.timeline.commits, place)}
        />
        {resets.length > 0 && <span>{counted(resets.length, 'reset')}</span>}
        {forks.length > 0 && <span>{counted(forks.length, 'fork')}</span>}
        <span>
          {counted(messages, 'message')}
          {generation > 1 && (isFork ? ' since the fork' : ' since the reset')}
          {natters > 0 && `, ${natters} of them from Natter`}
          {isFork && `; the agent knows ${past.timeline.knownAt(place).length} in all`}
        </span>
        <span>{counted(completedTurns, 'answer')}</span>
        <span>
          {usage.totalTokens.toLocaleString()} tokens{generation > 1 && ' since then'}
        </span>
        <span>{modelText(settings.model, past.timeline.modelAt(place)) ?? 'model: the agent’s own'}</span>
        {turn !== null && <span>at step {turn.step} of an answer</span>}
        {queue.length > 0 && <span>{queue.length} in the queue</span>}
      </p>
      <MomentMemories state={state} isLive={past.isLive} />
    </section>
  );
};

/** That forks go on from a moment, and where each is. */
const ForksFromHere = ({ past }: { readonly past: Past }) => {
  const { timeline } = past;
  const count = past.count.value;
  const forks = useMemo(() => timeline.forks(), [timeline, count]);
  return forks
    .filter(({ ancestor }) => ancestor === past.place.value)
    .map(({ place }) => (
      <p key={place} class="hint moment-fork">
        A fork goes on from here, at{' '}
        <button type="button" class="button button-quiet" onClick={() => past.goTo(place)}>
          commit {timeline.numberAt(place)}
        </button>
      </p>
    ));
};

/** What is special about a moment: an error here or next, a question to a person, and forks from it. */
export const MomentNotes = ({ past, state }: { readonly past: Past; readonly state: ShownState }) => {
  const commit = past.timeline.commits[past.place.value - 1];
  const answered = commit?.events.find((event) => event.type === 'approval_resolved');
  const approvalId = answered?.approvalId ?? state.context.approval?.approvalId;
  return (
    <>
      {commit !== undefined && <ErrorMoment past={past} />}
      {approvalId !== undefined && <ApprovalMoment past={past} approvalId={approvalId} />}
      <ForksFromHere past={past} />
    </>
  );
};

/** The conversation that the agent knew at a moment, its last lines first of all. */
export const MomentConversation = ({ past, state }: { readonly past: Past; readonly state: ShownState }) => {
  const { position } = state;
  const [isLong, setLong] = useState(false);
  const place = past.place.value;
  const { lines, hasMore } = useMemo(
    () => lastSaid(past.timeline.commits, place, position, isLong ? manyLines : fewLines),
    [past, place, position, isLong],
  );
  if (place === 0) return null;
  return (
    <section class="card" aria-labelledby="moment-said">
      <h2 id="moment-said">What the agent knew of the conversation</h2>
      {hasMore && !isLong && (
        <button type="button" class="button button-quiet moment-more" onClick={() => setLong(true)}>
          Show what was said before
        </button>
      )}
      {hasMore && isLong && <p class="hint">The last {manyLines} lines. What was before them is in the transcript.</p>}
      {lines.length === 0 ? (
        <p class="hint">Nothing had been said.</p>
      ) : (
        <SaidLines lines={lines} width={isLong ? undefined : 100} go={({ seq }) => past.goTo(past.timeline.countAt(seq))} />
      )}
    </section>
  );
};
