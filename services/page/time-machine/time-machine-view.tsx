import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { changeQuery, commitPlace, firstFailed, linkTo, route } from '../base/route.ts';
import { mayWrite } from '../base/signed-in.ts';
import { ResetButton } from '../chat/reset-button.tsx';
import { MachineDiagram } from '../machine/machine-diagram.tsx';
import { Problem } from '../parts/empty.tsx';
import { gatewayPast } from '../past/gateway-past.ts';
import { Past, type PastSource } from '../past/past.ts';
import { useBeginning } from '../past/use-beginning.ts';
import { ChatLink } from './chat-link.tsx';
import { PastCommits } from './commit-list.tsx';
import { CompareButton, ForkComparison } from './fork-comparison.tsx';
import { JsonTree } from './json-value.tsx';
import { MomentChanges } from './moment-changes.tsx';
import { MomentConversation, MomentFacts, MomentNotes, Writer } from './moment-summary.tsx';
import { Happened, NewestMoment } from './newest-moment.tsx';
import { SameBadge } from './same-badge.tsx';
import { Scrubber } from './scrubber.tsx';
import { useMovingKeys } from './use-moving-keys.ts';

const Moment = ({ past }: { readonly past: Past }) => {
  const place = past.place.value;
  const [before, state] = useMemo(() => past.timeline.statesAround(place), [past, place]);
  const commit = past.timeline.commits[place - 1];
  const { seq = 0, events = [] } = commit ?? {};
  const scroller = useRef<HTMLDivElement>(null);
  const noteScroll = useBeginning(place);
  // Who came by a link that is gone now would go on from nowhere; from the moment before an error one key leads to it.
  useEffect(() => {
    const { current } = scroller;
    if (document.activeElement === document.body)
      (current?.querySelector<HTMLElement>('.moment-error button') ?? current)?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="moment" ref={scroller} tabIndex={-1} onScroll={noteScroll}>
      <MomentFacts past={past} state={state} />
      <div class="card moment-about">
        <MomentNotes past={past} state={state} />
        {past.isLive && (
          <div class="moment-actions">
            {place === 0 && mayWrite() && <ResetButton sessionKey={past.key} style="" words="Reset this session…" />}
            <ChatLink past={past} state={state} />
            <CompareButton past={past} />
          </div>
        )}
        {!past.isLive && <CompareButton past={past} />}
      </div>
      <MomentConversation past={past} state={state} />
      <section class="card" aria-labelledby="moment-happened">
        <h2 id="moment-happened">What happened</h2>
        {commit === undefined ? <p class="hint">Nothing yet.</p> : <Happened commit={commit} />}
        <Writer past={past} />
        {past.isLive && <SameBadge sessionKey={past.key} seq={seq} state={state} />}
      </section>
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
  const home = useMemo(() => linkTo(route.peek().path), [past]);
  const view = useRef<HTMLDivElement>(null);
  const isListed = useSignal(false);
  const noteScroll = useBeginning(past.place.value);
  const seq = past.chosen.value === null ? '' : `${past.timeline.commits[past.place.value - 1]?.seq ?? 0}`;
  const written = useRef('');
  useEffect(() => {
    if (!past.isRead.value) return undefined;
    const write = (): void => {
      // Somebody has just gone to another view, and this one is about to end.
      if (linkTo(route.peek().path) !== home) return;
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
  }, [past, home, seq, past.isRead.value]);
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
  /** On a small screen the list makes way for what was chosen in it, which is read on from. */
  const wasChosen = (): void => {
    if (!isListed.value) return;
    isListed.value = false;
    requestAnimationFrame(() => view.current?.querySelector<HTMLElement>('.moment')?.focus({ preventScroll: true }));
  };
  return (
    <div class={`past ${isListed.value ? 'past-listed' : ''}`} ref={view} onScroll={noteScroll}>
      {past.problem.value !== null && <Problem text={past.problem.value} />}
      {damage !== null && <Problem text={damage} />}
      <Scrubber past={past} isListed={isListed} />
      {past.hasMoment.value ? (
        <div class="past-body">
          <PastCommits past={past} chosen={wasChosen} />
          <Moment past={past} />
        </div>
      ) : past.newest.value !== null ? (
        <NewestMoment past={past} newest={past.newest.value} chosen={wasChosen} />
      ) : (
        <p class="loading">Reading the log…</p>
      )}
    </div>
  );
};
export default TimeMachineView;
