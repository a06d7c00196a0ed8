import type { EventType } from '../../../shared/client/main.ts';
import { changeQuery, route } from '../base/route.ts';
import { eventFilterName } from '../finding/filtered-views.ts';
import { typeWords } from '../parts/event-words.ts';
import { Icon } from '../parts/icon.tsx';
import type { EventList } from './event-list.ts';

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
/** The types that a kind in the address stands for. */
export const typesOf = (name: string): readonly EventType[] => groups[name]?.[1] ?? ([name] as EventType[]);

/** In the address, as where the events begin: at the first one. */
export const beginning = 'beginning';

const [second, minute] = [1_000, 60_000];
/** A time of the address, ms; `null`: it has none. */
export const timeOf = (text: string): number | null => {
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
};

/** A minute as a field has it, by the clock of the reader: `2026-11-28T10:05`. */
const localMinute = (time: number): string =>
  new Date(time - new Date(time).getTimezoneOffset() * minute).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);

/** The events of the minute that is written belong to what is wanted. */
const UpTo = () => {
  const time = timeOf(route.value.query.until ?? '');
  const change = (written: string): void => {
    const chosen = timeOf(written);
    changeQuery({ until: chosen === null ? '' : new Date(chosen + minute).toISOString(), from: '', id: '' });
  };
  return (
    <label class="field">
      <span>Up to a time</span>
      <input
        type="datetime-local"
        value={time === null ? '' : localMinute(time - second)}
        onChange={(event) => change(event.currentTarget.value)}
      />
    </label>
  );
};

const Pause = ({ list }: { readonly list: EventList }) => {
  const isPaused = list.isPaused.value;
  const toggle = (): void => {
    list.isPaused.value = !isPaused;
  };
  return (
    <button type="button" class="button" aria-pressed={isPaused} onClick={toggle}>
      <Icon name={isPaused ? 'play' : 'pause'} />
      {isPaused ? `Go on${list.held.value > 0 ? `, ${list.held.value} new` : ''}` : 'Pause'}
    </button>
  );
};

/** What the events are filtered by, and where they begin. All of it is in the address. */
export const EventFilters = ({ list }: { readonly list: EventList }) => {
  const { type = 'all', key = '' } = route.value.query;
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
      <UpTo />
      <button
        type="button"
        class="button"
        onClick={() => changeQuery({ from: list.isForwards ? '' : beginning, until: '', id: '' })}
      >
        {list.isForwards ? 'To the newest' : 'From the beginning'}
      </button>
      {list.isLive && <Pause list={list} />}
    </div>
  );
};
