import { useState } from 'preact/hooks';
import { changeQuery, route } from '../base/route.ts';
import { eventFilterName } from '../finding/filtered-views.ts';
import { typeWords } from '../parts/event-words.ts';
import { Icon } from '../parts/icon.tsx';
import { givenMemory, kinds } from './event-kinds.ts';
import type { EventList } from './event-list.ts';

/** In the address, as where the events begin: at the first one. */
export const beginning = 'beginning';

const minute = 60_000;
/** A time of the address, ms; `null`: it has none. */
export const timeOf = (text: string): number | null => {
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
};

/** A minute as a field has it, by the clock of the reader: `2026-11-28T10:05`. */
const localMinute = (time: number): string =>
  new Date(time - new Date(time).getTimezoneOffset() * minute).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);

const Before = () => {
  const time = timeOf(route.value.query.until ?? '');
  const change = (written: string): void => {
    const chosen = timeOf(written);
    changeQuery({ until: chosen === null ? '' : new Date(chosen).toISOString(), from: '', id: '' });
  };
  return (
    <label class="field">
      <span>Before a time</span>
      <input
        type="datetime-local"
        value={time === null ? '' : localMinute(time)}
        onChange={(event) => change(event.currentTarget.value)}
      />
    </label>
  );
};

/** Only what comes can be paused. The button stays where it is, so that those beside it do too. */
const Pause = ({ list }: { readonly list: EventList }) => {
  const isPaused = list.isPaused.value;
  const toggle = (): void => {
    list.isPaused.value = !isPaused;
  };
  return (
    <button
      type="button"
      class="button pause-events"
      aria-pressed={isPaused}
      disabled={!list.isLive}
      title={list.isLive ? undefined : 'These are events of the past: none comes'}
      onClick={toggle}
    >
      <Icon name={isPaused ? 'play' : 'pause'} />
      {isPaused ? `Go on${list.held.value > 0 ? `, ${list.held.value} new` : ''}` : 'Pause'}
    </button>
  );
};

/** What the events are filtered by, and where they begin. All of it is in the address. On a small screen it is behind a button. */
export const EventFilters = ({ list }: { readonly list: EventList }) => {
  const { type = 'all', memory = '', key = '', until = '' } = route.value.query;
  const [isOpen, open] = useState(false);
  const active = [type !== 'all', key !== '', until !== '' || list.isForwards].filter(Boolean).length;
  return (
    <>
      <button type="button" class="button fold-filters" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
        Filters{active > 0 && ` (${active})`}
      </button>
      <div class={`fields event-filters ${isOpen ? 'event-filters-open' : ''}`}>
        <label class="field">
          <span>Kind</span>
          <select value={type} onChange={(event) => changeQuery({ type: event.currentTarget.value, memory: '', id: '' })}>
            {!Object.hasOwn(kinds, type) && (
              <option value={type}>
                {memory === '' ? (eventFilterName(type) ?? typeWords(type)) : givenMemory(memory).words}
              </option>
            )}
            {Object.entries(kinds).map(([name, { words }]) => (
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
        <Before />
        <Pause list={list} />
        <button
          type="button"
          class="button"
          onClick={() => changeQuery({ from: list.isForwards ? '' : beginning, until: '', id: '' })}
        >
          {list.isForwards ? 'To the newest' : 'From the beginning'}
        </button>
      </div>
    </>
  );
};
