import { useMemo, useState } from 'preact/hooks';
import type { ShownState } from '../../../shared/domain/session/fold/evolve.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { mayWrite } from '../base/signed-in.ts';
import { HostLink } from '../finding/host-link.tsx';
import { hostOf, isHost } from '../parts/host.ts';
import { modelText } from '../parts/model-words.ts';
import { actorText } from '../parts/person.ts';
import { StatusBadge } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { leftText } from '../past/left-behind.ts';
import type { Past } from '../past/past.ts';
import { lastSaid } from '../past/said.ts';
import { hasFailed } from '../past/timeline.ts';
import { ApprovalMoment } from './approval-moment.tsx';
import { ErrorMoment } from './error-moment.tsx';
import { MomentMemories } from './moment-memories.tsx';
import { SaidLines } from './said-lines.tsx';

/** How many lines of what the agent knew are in sight at first. */
export const fewLines = 6;
const manyLines = 200;

/** Which commit is chosen, when it was recorded, and by whom. */
const CommitFacts = ({ past }: { readonly past: Past }) => {
  const commit = past.timeline.commits[past.place.value - 1];
  if (commit === undefined) return <p class="hint">It does not exist yet.</p>;
  return (
    <p class="commit-facts">
      Commit <b title={`Log sequence ${commit.seq}`}>{commit.rev}</b> of {past.timeline.numberAt(past.count.value)},{' '}
      <Time at={commit.at} exact />, <span>{isHost(commit.actor) ? 'by its host' : actorText(commit.actor)}</span>
    </p>
  );
};

/** The host that wrote the commit, where that is known: its name is long, and few look for it. */
export const Writer = ({ past }: { readonly past: Past }) => {
  const commit = past.timeline.commits[past.place.value - 1];
  const host = commit && (isHost(commit.actor) ? hostOf(commit.actor) : commit.host);
  if (host === undefined) return null;
  return <p class="hint commit-facts">Written by the host {past.isLive ? <HostLink host={host} /> : host}</p>;
};

/** What the session was at a moment, in words: after which commit, its state and its counts. */
export const MomentFacts = ({ past, state }: { readonly past: Past; readonly state: ShownState }) => (
  <section class="card" aria-labelledby="moment-facts">
    <h2 id="moment-facts">The session {past.place.value === 0 ? 'before its first commit' : 'after this commit'}</h2>
    <CommitFacts past={past} />
    {state.context.generation > 0 && <StateFacts past={past} state={state} />}
    <p class="hint">
      {commitMeaning}
      {past.isLive && mayWrite() && ' A fork makes no copy: this session itself goes back to the commit.'}
    </p>
  </section>
);

/** What the word of this view means, where a newcomer meets it first. */
export const commitMeaning = 'A commit is one recorded change.';

const StateFacts = ({ past, state }: { readonly past: Past; readonly state: ShownState }) => {
  const { generation, messages, completedTurns, usage, queue, turn, settings } = state.context;
  const place = past.place.value;
  const until = (marks: readonly number[]): readonly number[] => marks.filter((mark) => mark <= place);
  const [resets, forks] = [until(past.marksOf('reset')), until(past.marksOf('fork'))];
  const isFork = generation > 1 && (forks.at(-1) ?? 0) > (resets.at(-1) ?? 0);
  const begun = past.timeline.countAt(state.position.startedSeq - 1);
  const natters = past.timeline.nattersBetween(begun, place);
  return (
    <>
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
    </>
  );
};

/** That forks go on from a moment, and where each is. */
const ForksFromHere = ({ past }: { readonly past: Past }) => {
  const { timeline } = past;
  const count = past.count.value;
  const forks = useMemo(() => timeline.forks(), [timeline, count]);
  return forks
    .filter(({ base }) => base > 0 && base === past.place.value)
    .map(({ place }) => (
      <p key={place} class="hint moment-fork">
        A fork goes on from here, at{' '}
        <button type="button" class="button button-quiet" onClick={() => past.goTo(place)}>
          commit {timeline.numberAt(place)}
        </button>
      </p>
    ));
};

/** What is special about a moment: that a fork left it behind, an error here or next, a question to a person, and forks from it. */
export const MomentNotes = ({ past, state }: { readonly past: Past; readonly state: ShownState }) => {
  const commit = past.timeline.commits[past.place.value - 1];
  const answered = commit?.events.find((event) => event.type === 'approval_resolved');
  const approvalId = answered?.approvalId ?? state.context.approval?.approvalId;
  void past.count.value;
  return (
    <>
      {commit !== undefined && past.timeline.isLeft(commit.seq) && (
        <p class="hint">{leftText(past.timeline.leaverOf(commit.seq))}</p>
      )}
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
        <p class="hint">Nothing had been said{(past.marksOf('reset')[0] ?? place + 1) <= place && ' since the reset'}.</p>
      ) : (
        <SaidLines lines={lines} width={isLong ? undefined : 100} go={({ seq }) => past.goTo(past.timeline.countAt(seq))} />
      )}
    </section>
  );
};
