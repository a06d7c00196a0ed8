import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { NatterEvent } from '../../../shared/client/main.ts';
import { changeQuery, go, route } from '../base/route.ts';
import { nameOfKey } from '../finding/known-names.ts';
import { Empty } from '../parts/empty.tsx';
import { eventWords } from '../parts/event-words.ts';
import { eventText } from '../parts/person.ts';
import { Time } from '../parts/time.tsx';
import { rowMoves, useVirtual } from '../parts/virtual.ts';
import { leaverAmong } from '../past/left-behind.ts';
import type { EventList } from './event-list.ts';
import type { RecordedReset } from './use-resets.ts';

const rowHeight = 40;

/** Its detail is read on from: it is drawn in the next frame. */
const focusDetail = (): void => {
  requestAnimationFrame(() => document.querySelector<HTMLElement>('.event-detail')?.focus());
};

interface RowProps {
  readonly event: NatterEvent;
  readonly isChosen: boolean;
  /** An edit, a fork or the like left it behind. */
  readonly isLeft: boolean;
  /** The Tab key stops here. */
  readonly isStop: boolean;
  readonly top: number;
}

const Row = ({ event, isChosen, isLeft, isStop, top }: RowProps) => {
  const name = nameOfKey(event.key);
  return (
    <li style={{ transform: `translateY(${top}px)` }}>
      <button
        type="button"
        class={`event-row event-${event.type} ${isChosen ? 'event-chosen' : ''}`}
        aria-current={isChosen ? 'true' : undefined}
        tabIndex={isStop ? 0 : -1}
        onClick={({ detail }) => {
          const { path, query } = route.value;
          const isByPointer = detail > 0;
          // On a small screen it takes the place of the list: Back leads there.
          if (isByPointer && query.id === undefined) return go(path, { ...query, id: event.id });
          changeQuery({ id: event.id });
          if (!isByPointer) focusDetail();
        }}
      >
        <span class="event-commit" title="The commit of its session that it is in">
          <span class="unseen">commit </span>
          {event.rev}
        </span>
        <span class="event-type">{eventWords(event)}</span>
        <span class="event-text">
          {isLeft && <b>Left behind </b>}
          {eventText(event, event.actor)}
        </span>
        <span class="event-key" title={`${name} (${event.key})`}>
          {name}
        </span>
        <Time at={event.at} exact />
      </button>
    </li>
  );
};

interface ReadMoreProps {
  readonly list: EventList;
  readonly words: string;
  readonly style?: string;
}

const ReadMore = ({ list, words, style = '' }: ReadMoreProps) => (
  <button type="button" class={`button ${style}`} aria-disabled={list.isReading.value} onClick={() => void list.readMore()}>
    {list.isReading.value ? 'Reading…' : words}
  </button>
);

/** In place of events: that there are none is said only when the gateway has looked through all of the log. */
export const NoEvents = ({ list, isFiltered }: { readonly list: EventList; readonly isFiltered: boolean }) => {
  const { memory, key, until } = route.value.query;
  const isOfMemory = Boolean(memory) && !key && !until;
  if (list.isReading.value) return <p class="loading">Looking through the log…</p>;
  if (list.hasMore.value)
    return (
      <Empty title="None found yet">
        <p>A part of the log has been looked through, and there is more of it.</p>
        <ReadMore list={list} words={list.isForwards ? 'Look further' : 'Look further back'} />
      </Empty>
    );
  return (
    <Empty title={isFiltered ? 'No matching events' : 'Nothing has happened yet'}>
      {isOfMemory ? (
        <p>No model has been given this memory. The built-in offline model is given none: it reads no instructions.</p>
      ) : list.isLive ? (
        <p>Events appear here as they are recorded. Say something in a session, or widen the filter.</p>
      ) : (
        <p>Widen the filter, or go to the newest events.</p>
      )}
    </Empty>
  );
};

/** The events in the order in which they are read. One stop of the Tab key, in which the arrow keys move the choice; Enter goes to its detail. */
export const EventRows = ({
  list,
  events,
  resets,
  chosenId,
}: {
  readonly list: EventList;
  readonly events: readonly NatterEvent[];
  /** Of the one session that these are of; none: they are of several. */
  readonly resets: readonly RecordedReset[];
  readonly chosenId: string | undefined;
}) => {
  const { scroller, rows: shown, height, show } = useVirtual({ count: events.length, rowHeight });
  // The arrow keys work on arrival, unless somebody has gone to a field or a button meanwhile.
  useEffect(() => {
    if (document.activeElement?.matches('body, #main')) scroller.current?.focus({ preventScroll: true });
  }, [scroller]);
  const isMoving = useRef(false);
  useLayoutEffect(() => {
    const row = isMoving.current ? scroller.current?.querySelector<HTMLElement>('[aria-current]') : null;
    if (!row) return;
    isMoving.current = false;
    row.focus({ preventScroll: true });
  });
  const move = (by: number): void => {
    const at = events.findIndex(({ id }) => id === chosenId);
    const next = at < 0 ? 0 : Math.min(events.length - 1, Math.max(0, at + by));
    const event = events[next];
    if (event === undefined) return;
    isMoving.current = true;
    changeQuery({ id: event.id });
    show(next);
  };
  const chosenAt = shown.find(({ index }) => events[index]?.id === chosenId)?.index;
  const stop = chosenAt ?? shown[0]?.index;
  return (
    <div class="event-list">
      <div class="event-head" aria-hidden="true">
        <span>Commit</span>
        <span>Event</span>
        <span>What it says</span>
        <span>Session</span>
        <span>Time</span>
      </div>
      <section
        class="event-rows"
        ref={scroller}
        tabIndex={-1}
        aria-label={list.isForwards ? 'Oldest first' : 'Newest first'}
        onKeyDown={(pressed) => {
          const by = rowMoves[pressed.key];
          if (by === undefined) return;
          pressed.preventDefault();
          move(by);
        }}
      >
        <ol style={{ height: `${height}px` }}>
          {shown.map(({ index, start }) => {
            const event = events[index];
            const isChosen = event?.id === chosenId;
            return (
              event && (
                <Row
                  key={event.id}
                  event={event}
                  top={start}
                  isChosen={isChosen}
                  isLeft={leaverAmong(resets, event.seq) !== ''}
                  isStop={index === stop}
                />
              )
            );
          })}
        </ol>
        {list.hasMore.value && (
          <ReadMore list={list} style="button-quiet" words={list.isForwards ? 'Later events' : 'Older events'} />
        )}
        {list.isForwards && !list.hasMore.value && <p class="loading">These were all events when they were read.</p>}
      </section>
    </div>
  );
};
