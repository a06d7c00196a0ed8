import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { MachineDiagram } from '../machine/machine-diagram.tsx';
import { eventWords, meaningOf } from '../parts/event-words.ts';
import { actorText, eventText } from '../parts/person.ts';
import { StatusBadge } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import type { Newest, Past } from '../past/past.ts';
import { lastSaid } from '../past/said.ts';
import { hasFailed, nattersIn } from '../past/timeline.ts';
import { CommitList } from './commit-list.tsx';
import { commitMeaning, fewLines } from './moment-summary.tsx';
import { SaidLines } from './said-lines.tsx';

/** The events of a commit in words. */
export const Happened = ({ commit }: { readonly commit: RecordedCommit }) => (
  <ul class="happened">
    {commit.events.map((event, index) => (
      <li key={index}>
        <b>{eventWords(event)}</b> {eventText(event, commit.actor, commit.events)}
        {meaningOf(event) !== null && <small class="hint"> {meaningOf(event)}</small>}
      </li>
    ))}
  </ul>
);

interface NewestMomentProps {
  readonly past: Past;
  readonly newest: Newest;
  /** A commit was chosen in the list. */
  chosen(): void;
}

/** The newest moment as the gateway has it, while the page still reads the log: what is known of it without all commits before it. */
export const NewestMoment = ({ past, newest: { commits, state }, chosen: wasChosen }: NewestMomentProps) => {
  const { context, position, status } = state;
  const commit = commits.at(-1);
  const wanted = past.wanted.value;
  const want = (seq: number | undefined): void => {
    past.wanted.value = seq ?? null;
  };
  const goTo = (place: number): void => want(place === commits.length ? undefined : commits[place - 1]?.seq);
  const chosen = wanted === null ? commits.length : commits.findIndex(({ seq }) => seq === wanted) + 1;
  const { lines } = lastSaid(commits, commits.length, position, fewLines);
  const natters = nattersIn(commits, position.startedSeq);
  return (
    <div class="past-body" aria-busy="true">
      <CommitList
        commits={commits}
        count={commits.length}
        place={chosen}
        go={goTo}
        choose={(place) => {
          goTo(place);
          wasChosen();
        }}
      />
      {wanted !== null || commit === undefined ? (
        <p class="loading">Reading the log up to that commit…</p>
      ) : (
        <div class="moment">
          <section class="card" aria-labelledby="moment-facts">
            <h2 id="moment-facts">The session after this commit</h2>
            <p class="commit-facts">
              The newest commit, <Time at={commit.at} exact />, <b>{actorText(commit.actor)}</b>
            </p>
            <p class="moment-facts">
              <StatusBadge isPast status={status} hasFailed={status === 'idle' && hasFailed(commits, commits.length)} />
              <span>
                {counted(context.messages, 'message')}
                {natters ? `, ${natters} of them from Natter` : ''}
              </span>
              <span>{counted(context.completedTurns, 'answer')}</span>
              <span>{context.usage.totalTokens.toLocaleString()} tokens</span>
            </p>
            <p class="hint">{commitMeaning}</p>
          </section>
          {lines.length > 0 && (
            <section class="card" aria-labelledby="moment-said">
              <h2 id="moment-said">What the agent knew of the conversation</h2>
              <SaidLines lines={lines} width={100} go={({ seq }) => want(seq)} />
            </section>
          )}
          <section class="card" aria-labelledby="moment-happened">
            <h2 id="moment-happened">What happened</h2>
            <Happened commit={commit} />
            <p class="hint">What it changed, and every earlier commit, come once the log is read.</p>
          </section>
          <section class="card" aria-labelledby="moment-machine">
            <h2 id="moment-machine">State machine</h2>
            <MachineDiagram before={status} status={status} events={[]} />
          </section>
        </div>
      )}
    </div>
  );
};
