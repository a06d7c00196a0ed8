import { useEffect, useMemo } from 'preact/hooks';
import type { NatterEvent } from '../../../shared/client/main.ts';
import { changeQuery, route } from '../base/route.ts';
import { knownNameOf } from '../finding/known-names.ts';
import { Empty, Problem } from '../parts/empty.tsx';
import { Icon } from '../parts/icon.tsx';
import { rows } from '../sessions/session-list.ts';
import { ChosenEvent } from './chosen-event.tsx';
import { beginning, EventFilters, timeOf } from './event-filters.tsx';
import { givenMemory, isOfKind, kindOf } from './event-kinds.ts';
import { EventList } from './event-list.ts';
import { EventRows, NoEvents } from './event-rows.tsx';
import { sessionFilter } from './session-filter.ts';
import { useResets } from './use-resets.ts';

/** Every event of all sessions as it is recorded, or of one session or kind, and one of them in full. */
const EventsView = () => {
  const { type = 'all', key = '', id, from, until = '', memory = '' } = route.value.query;
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
  const start = from === beginning ? beginning : (timeOf(until) ?? 'end');
  const kind = useMemo(() => (memory === '' ? kindOf(type) : givenMemory(memory)), [type, memory]);
  const list = useMemo(() => new EventList({ types: kind.types, fits: kind.fits, key: only, from: start }), [kind, only, start]);
  useEffect(() => () => list.close(), [list]);
  const resets = useResets(only, 0);
  const found = list.events.value;
  const events = useMemo(() => {
    const fitting = filter.kind === 'some' ? found.filter((event) => filter.fits(event.key)) : found;
    return list.isForwards ? fitting : fitting.toReversed();
  }, [found, filter, list]);
  const isFiltered = type !== 'all' || key !== '' || until !== '';
  const isWanted = (event: NatterEvent): boolean =>
    isOfKind(kind, event) &&
    (filter.kind === 'all' || (filter.kind === 'one' ? filter.key === event.key : filter.fits(event.key))) &&
    (typeof start !== 'number' || event.at < start);
  return (
    <section class="inspector" aria-labelledby="events-title">
      <header class="pane-head">
        <h1 id="events-title">Events</h1>
        <EventFilters list={list} />
      </header>
      {list.problem.value !== null && <Problem text={list.problem.value} />}
      {events.length === 0 && !id ? (
        <NoEvents list={list} isFiltered={isFiltered} />
      ) : (
        <div class={`inspector-body ${id ? 'inspector-one' : ''}`}>
          {events.length === 0 ? (
            <div class="event-list">
              <NoEvents list={list} isFiltered={isFiltered} />
            </div>
          ) : (
            <EventRows list={list} events={events} resets={resets} chosenId={id} />
          )}
          <div class="inspector-detail">
            {id ? (
              <>
                <button type="button" class="button button-quiet to-events" onClick={() => changeQuery({ id: '' })}>
                  <Icon name="back" /> Events
                </button>
                <ChosenEvent id={id} listed={events.find((event) => event.id === id)} isWanted={isWanted} />
              </>
            ) : (
              <Empty title="Choose an event">
                <p>It is shown here as JSON, with what caused it and what it led to. Arrow keys move through the list.</p>
              </Empty>
            )}
          </div>
        </div>
      )}
    </section>
  );
};
export default EventsView;
