import { useRef } from 'preact/hooks';
import { changeQuery } from '../base/route.ts';
import { Icon } from '../parts/icon.tsx';
import { lastFailed, sessionStatusWords } from '../parts/status.tsx';
import { type Filter, filter, filters, hasMore, isGrouped, isUnreadOnly, label, labels, rows, search } from './session-list.ts';

const searchMs = 200;

const filterWords: Readonly<Record<Filter, string>> = {
  active: 'Active',
  ...sessionStatusWords,
  failed: lastFailed,
  all: 'All, including archived',
};

/** All that the list is filtered by, in words. */
export const filteredBy = (): string =>
  [
    `“${filterWords[filter.value]}”`,
    ...(isUnreadOnly.value ? ['“Unread only”'] : []),
    ...(label.value === '' ? [] : [`the label “${label.value}”`]),
    ...(search.value === '' ? [] : [`the words “${search.value}”`]),
  ].join(' and ');

/** What the list is filtered by. All of it is in the address. */
export const Filters = () => {
  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const seek = (text: string): void => {
    clearTimeout(waiting.current);
    waiting.current = setTimeout(() => changeQuery({ q: text.trim() }), searchMs);
  };
  const shownLabels = [...new Set([...labels.value, ...(label.value === '' ? [] : [label.value])])];
  return (
    <div class="filters">
      <label class="search">
        <span class="unseen">Search sessions</span>
        <Icon name="search" />
        <input
          type="search"
          placeholder="Search names and messages"
          value={search.value}
          onInput={(event) => seek(event.currentTarget.value)}
        />
      </label>
      <label class="select">
        <span class="unseen">Status</span>
        <select value={filter.value} onChange={(event) => changeQuery({ status: event.currentTarget.value })}>
          {filters.map((each) => (
            <option key={each} value={each}>
              {filterWords[each]}
            </option>
          ))}
        </select>
      </label>
      {shownLabels.length > 0 && (
        <label class="select">
          <span class="unseen">Label</span>
          <select value={label.value} onChange={(event) => changeQuery({ label: event.currentTarget.value })}>
            <option value="">Any label</option>
            {shownLabels.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
      )}
      <label class="filter-check">
        <input
          type="checkbox"
          checked={isUnreadOnly.value}
          onChange={(event) => changeQuery({ unread: event.currentTarget.checked ? '1' : '' })}
        />
        Unread only
      </label>
      {(shownLabels.length > 0 || isGrouped.value) && (
        <label class="filter-check">
          <input
            type="checkbox"
            checked={isGrouped.value}
            onChange={(event) => changeQuery({ group: event.currentTarget.checked ? 'label' : '' })}
          />
          Group by label
        </label>
      )}
      {isGrouped.value && hasMore.value && (
        <p class="hint">
          Grouped are the first {(rows.value?.list.length ?? 0).toLocaleString()} sessions; at the end of the list come more.
        </p>
      )}
    </div>
  );
};
