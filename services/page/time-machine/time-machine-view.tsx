import { useEffect, useMemo, useRef } from 'preact/hooks';
import { changeQuery, commitPlace, firstFailed, route } from '../base/route.ts';
import { mayWrite } from '../base/signed-in.ts';
import { ResetButton } from '../chat/reset-button.tsx';
import { ActorName } from '../finding/host-link.tsx';
import { MachineDiagram } from '../machine/machine-diagram.tsx';
import { Problem } from '../parts/empty.tsx';
import { actorText } from '../parts/person.ts';
import { Time } from '../parts/time.tsx';
import { gatewayPast } from '../past/gateway-past.ts';
import { Past, type PastSource } from '../past/past.ts';
import { ChatLink } from './chat-link.tsx';
import { PastCommits } from './commit-list.tsx';
import { ForkButton } from './fork-button.tsx';
import { CompareButton, ForkComparison } from './fork-comparison.tsx';
import { JsonTree } from './json-value.tsx';
import { MomentChanges } from './moment-changes.tsx';
import { MomentConversation, MomentFacts, MomentNotes } from './moment-summary.tsx';
import { Happened, NewestMoment } from './newest-moment.tsx';
import { SameBadge } from './same-badge.tsx';
import { Scrubber } from './scrubber.tsx';
import { useMovingKeys } from './use-moving-keys.ts';

const Commit = ({ past }: { readonly past: Past }) => {
  const commit = past.timeline.commits[past.place.value - 1];
  if (commit === undefined) return <p class="hint">Before the first commit: the session does not exist yet.</p>;
  return (
    <>
      <p class="commit-facts">
        Commit <b title={`Log sequence ${commit.seq}`}>{commit.rev}</b> of {past.timeline.numberAt(past.count.value)},{' '}
        <Time at={commit.at} exact />, <b>{past.isLive ? <ActorName actor={commit.actor} /> : actorText(commit.actor)}</b>
      </p>
      <Happened commit={commit} />
    </>
  );
};

const Moment = ({ past }: { readonly past: Past }) => {
  const place = past.place.value;
  const [before, state] = useMemo(() => past.timeline.statesAround(place), [past, place]);
  const { seq = 0, events = [] } = past.timeline.commits[place - 1] ?? {};
  const scroller = useRef<HTMLDivElement>(null);
  // To ask the element whether it is scrolled would make the browser lay out the page, at every moment.
  const isScrolled = useRef(false);
  useEffect(() => {
    if (isScrolled.current) scroller.current?.scrollTo(0, 0);
  }, [place]);
  // Who came by a link that is gone now would go on from nowhere; from the moment before an error one key leads to it.
  useEffect(() => {
    const { current } = scroller;
    if (document.activeElement === document.body)
      (current?.querySelector<HTMLElement>('.moment-error button') ?? current)?.focus({ preventScroll: true });
  }, []);
  return (
    <div
      class="moment"
      ref={scroller}
      tabIndex={-1}
      onScroll={({ currentTarget }) => {
        isScrolled.current = currentTarget.scrollTop > 0;
      }}
    >
      <section class="card" aria-labelledby="moment-happened">
        <h2 id="moment-happened">What happened</h2>
        <Commit past={past} />
        <MomentNotes past={past} state={state} />
        {past.isLive && (
          <div class="moment-actions">
            {place > 0 ? <ForkButton past={past} /> : mayWrite() && <ResetButton sessionKey={past.key} style="" />}
            <ChatLink past={past} state={state} />
            <CompareButton past={past} />
            <SameBadge sessionKey={past.key} seq={seq} state={state} />
          </div>
        )}
        {!past.isLive && <CompareButton past={past} />}
      </section>
      <MomentFacts past={past} state={state} />
      <MomentConversation past={past} state={state} />
      <section class="card" aria-labelledby="moment-machine">
        <h2 id="moment-machine">State machine</h2>
        <MachineDiagram before={before.status} status={state.status} events={events} />
      </section>
      <MomentChanges past={past} before={before} state={state} />
      <section class="card" aria-labelledby="moment-state">
        <h2 id="moment-state">The whole state</h2>
        <details class="books">
          <summary>Field by field, as the runtime has it</summary>
          <JsonTree name="context: what happened in the session" value={state.context} />
          <JsonTree name="position: its place in the log" value={state.position} />
        </details>
      </section>
    </div>
  );
};

/** How long a moment is chosen before it is in the address, ms: to write each one that a slider passes costs as much as to draw it. */
const settleMs = 100;

interface TimeMachineProps {
  readonly sessionKey: string;
  /** Default: the gateway. */
  readonly source?: PastSource;
}

/** Scrubs through a session's past with the runtime's own fold. Nothing is executed, and no model is called. */
const TimeMachineView = ({ sessionKey, source }: TimeMachineProps) => {
  const past = useMemo(() => {
    const { at = '' } = route.peek().query;
    return new Past(sessionKey, /^\d+$/.test(at) ? Number(at) : null, source ?? gatewayPast(sessionKey));
  }, [sessionKey, source]);
  useEffect(() => () => past.close(), [past]);
  const seq = past.chosen.value === null ? '' : `${past.timeline.commits[past.place.value - 1]?.seq ?? 0}`;
  const written = useRef('');
  useEffect(() => {
    if (!past.isRead.value) return undefined;
    const write = (): void => {
      written.current = seq;
      changeQuery({ at: seq });
    };
    const writing = setTimeout(write, settleMs);
    // Whoever leaves sooner than that takes the moment along.
    const leaving = new AbortController();
    const { signal } = leaving;
    addEventListener('pointerdown', write, { capture: true, signal });
    addEventListener('keydown', ({ key }) => key === 'Enter' && write(), { capture: true, signal });
    return () => {
      clearTimeout(writing);
      leaving.abort();
    };
  }, [past, seq, past.isRead.value]);
  const { at: asked = '', compare } = route.value.query;
  useMovingKeys(past, compare === undefined);
  // A link of this page to another moment. What was drawn last may be an address of ours that has been written over since.
  useEffect(() => {
    const { at = '' } = route.peek().query;
    if (!past.isRead.value || at === written.current) return;
    if (at === '') past.goTo(past.count.value);
    else if (/^\d+$/.test(at)) past.goTo(past.timeline.countAt(Number(at)));
  }, [asked]);
  useEffect(() => {
    if (!past.isRead.value) return;
    if (asked === firstFailed) past.goTo(past.timeline.firstFailed() ?? past.count.value);
    if (asked.startsWith(commitPlace)) past.goTo(past.timeline.placeOf(Number(asked.slice(commitPlace.length))));
  }, [asked, past.isRead.value]);
  if (compare !== undefined && past.isRead.value) return <ForkComparison past={past} seq={Number(compare)} />;
  if (past.problem.value !== null && past.count.value === 0)
    return (
      <div class="past">
        <Problem text={past.problem.value} />
      </div>
    );
  const damage = past.damage();
  return (
    <div class="past">
      {past.problem.value !== null && <Problem text={past.problem.value} />}
      {damage !== null && <Problem text={damage} />}
      <Scrubber past={past} />
      {past.hasMoment.value ? (
        <div class="past-body">
          <PastCommits past={past} />
          <Moment past={past} />
        </div>
      ) : past.newest.value !== null ? (
        <NewestMoment past={past} newest={past.newest.value} />
      ) : (
        <p class="loading">Reading the log…</p>
      )}
    </div>
  );
};
export default TimeMachineView;
