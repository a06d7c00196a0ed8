import { useEffect, useMemo } from 'preact/hooks';
import type { EventType, NatterEvent } from '../../../shared/client/main.ts';
import { changeQuery, route } from '../base/route.ts';
import { eventFilterName } from '../finding/filtered-views.ts';
import { knownNameOf, nameOfKey } from '../finding/known-names.ts';
import { Empty, Problem } from '../parts/empty.tsx';
import { eventWords, typeWords } from '../parts/event-words.ts';
import { Icon } from '../parts/icon.tsx';
import { eventText } from '../parts/person.ts';
import { Time } from '../parts/time.tsx';
import { useVirtual } from '../parts/virtual.ts';
import { rows } from '../sessions/session-list.ts';
import { EventDetail } from './event-detail.tsx';
import { EventList } from './event-list.ts';
import { sessionFilter } from './session-filter.ts';

const rowHeight = 40;

/** What people look for, as groups of types. */
const groups: Readonly<Record<string, readonly [words: string, types: readonly EventType[]]>> = {
  all: ['Everything', []],
  talk: ['What was said', ['user_message', 'assistant_message', 'notice', 'message_edited', 'message_withdrawn']],
  turns: [
    'Answers',
    ['turn_queued', 'turn_started', 'turn_resumed', 'turn_joined', 'turn_completed', 'turn_failed', 'turn_aborted', 'model_step'],
  ],
  tools: ['Tools and approvals', ['tool_call_started', 'tool_result', 'approval_requested', 'approval_resolved']],
  trouble: [
    'Trouble',
    ['turn_failed', 'turn_aborted', 'message_refused', 'delivery_reported', 'history_damaged', 'introspection_failed'],
  ],
  sessions: [
    'Sessions',
    ['session_opened', 'session_reset', 'session_deleted', 'session_deactivated', 'session_reopened', 'settings_changed'],
  ],
  memory: [
    'Memory and checkpoints',
    ['memory_changed', 'checkpoint_requested', 'introspected', 'introspection_failed', 'context_compacted'],
  ],
};
const typesOf = (name: string): readonly EventType[] => groups[name]?.[1] ?? ([name] as EventType[]);

const Row = ({ event, isChosen, top }: { readonly event: NatterEvent; readonly isChosen: boolean; readonly top: number }) => {
  const name = nameOfKey(event.key);
  return (
    <li style={{ transform: `translateY(${top}px)` }}>
      <button
        type="button"
        class={`event-row event-${event.type} ${isChosen ? 'event-chosen' : ''}`}
        aria-current={isChosen ? 'true' : undefined}
        onClick={() => changeQuery({ id: event.id })}
      >
        <span class="event-commit" title="The commit of its session that it is in">
          <span class="unseen">commit </span>
          {event.rev}
        </span>
        <span class="event-type">{eventWords(event)}</span>
        <span class="event-text">{eventText(event, event.actor)}</span>
        <span class="event-key" title={`${name} (${event.key})`}>
          {name}
        </span>
        <Time at={event.at} exact />
      </button>
    </li>
  );
};

/** The newest event first. Arrow keys move the choice. */
const Rows = ({
  list,
  events,
  chosenId,
}: {
  readonly list: EventList;
  readonly events: readonly NatterEvent[];
  readonly chosenId: string | undefined;
}) => {
  const { scroller, rows: shown, height, show } = useVirtual({ count: events.length, rowHeight });
  // The arrow keys work on arrival, unless somebody has gone to a field or a button meanwhile.
  useEffect(() => {
    if (document.activeElement?.matches('body, #main')) scroller.current?.focus({ preventScroll: true });
  }, [scroller]);
  const move = (by: number): void => {
    const at = events.findIndex(({ id }) => id === chosenId);
    const next = at < 0 ? events.length - 1 : Math.min(events.length - 1, Math.max(0, at - by));
    const event = events[next];
    if (event === undefined) return;
    changeQuery({ id: event.id });
    show(events.length - 1 - next);
  };
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        tabIndex={0}
        aria-label="Newest first"
        onKeyDown={(pressed) => {
          if (pressed.key !== 'ArrowDown' && pressed.key !== 'ArrowUp') return;
          pressed.preventDefault();
          move(pressed.key === 'ArrowDown' ? 1 : -1);
        }}
      >
        <ol style={{ height: `${height}px` }}>
          {shown.map(({ index, start }) => {
            const event = events[events.length - 1 - index];
            return event && <Row key={event.id} event={event} top={start} isChosen={event.id === chosenId} />;
          })}
        </ol>
        {list.hasOlder.value && (
          <button type="button" class="button button-quiet" onClick={() => void list.readOlder()}>
            Older events
          </button>
        )}
      </section>
    </div>
  );
};

const Filters = ({ list }: { readonly list: EventList }) => {
  const { type = 'all', key = '' } = route.value.query;
  const isPaused = list.isPaused.value;
  const toggle = (): void => {
    list.isPaused.value = !isPaused;
  };
  return (
    <div class="fields">
      <label class="field">
        <span>Kind</span>
        <select value={type} onChange={(event) => changeQuery({ type: event.currentTarget.value, id: '' })}>
          {!Object.hasOwn(groups, type) && <option value={type}>{eventFilterName(type) ?? typeWords(type)}</option>}
          {Object.entries(groups).map(([name, [words]]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Session, by its name or key</span>
        <input type="search" value={key} onInput={(event) => changeQuery({ key: event.currentTarget.value, id: '' })} />
      </label>
      <button type="button" class="button" aria-pressed={isPaused} onClick={toggle}>
        <Icon name={isPaused ? 'play' : 'pause'} />
        {isPaused ? `Go on${list.held.value > 0 ? `, ${list.held.value} new` : ''}` : 'Pause'}
      </button>
    </div>
  );
};

/** Every event of all sessions as it is recorded, or of one session or kind, and one of them in full. */
const EventsView = () => {
  const { type = 'all', key = '', id } = route.value.query;
  const filter = useMemo(
    () =>
      sessionFilter(
        key,
        (rows.value?.list ?? []).map((row) => row.key),
        knownNameOf,
      ),
    [key, rows.value],
  );
  const only = filter.kind === 'one' ? filter.key : undefined;
  const list = useMemo(() => new EventList({ types: typesOf(type), key: only }), [type, only]);
  useEffect(() => () => list.close(), [list]);
  const events = filter.kind === 'some' ? list.events.value.filter((event) => filter.fits(event.key)) : list.events.value;
  const chosen = events.find((event) => event.id === id);
  return (
    <section class="inspector" aria-labelledby="events-title">
      <header class="pane-head">
        <h1 id="events-title">Events</h1>
        <Filters list={list} />
      </header>
      {list.problem.value !== null && <Problem text={list.problem.value} />}
      {events.length === 0 ? (
        <Empty title={type === 'all' && key === '' ? 'Nothing has happened lately' : 'No matching events'}>
          <p>Events appear here as they are recorded. Say something in a session, or widen the filter.</p>
          {list.hasOlder.value && (
            <button type="button" class="button" onClick={() => void list.readOlder()}>
              Look further back
            </button>
          )}
        </Empty>
      ) : (
        <div class={`inspector-body ${chosen ? 'inspector-one' : ''}`}>
          <Rows list={list} events={events} chosenId={id} />
          {chosen ? (
            <div class="inspector-detail">
              <button type="button" class="button button-quiet to-events" onClick={() => changeQuery({ id: '' })}>
                <Icon name="back" /> Events
              </button>
              <EventDetail key={chosen.id} event={chosen} />
            </div>
          ) : (
            <div class="inspector-detail">
              <Empty title="Choose an event">
                <p>It is shown here as JSON, with what caused it and what it led to. Arrow keys move through the list.</p>
              </Empty>
            </div>
          )}
        </div>
      )}
    </section>
  );
};
export default EventsView;
