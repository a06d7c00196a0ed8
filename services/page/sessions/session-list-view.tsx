import { useComputed } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import type { SessionRow } from '../../../shared/client/main.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { currentDraft } from '../base/draft.ts';
import { broughtUp, newChat } from '../base/new-chat.ts';
import { now } from '../base/now.ts';
import { changeQuery, linkTo, listQuery, route } from '../base/route.ts';
import { mayWrite } from '../base/signed-in.ts';
import { streamWaits } from '../base/system-events.ts';
import { isHeading, type ShownList } from '../finding/label-groups.ts';
import { foundKeyOf, nameOf, nameWithIcon } from '../finding/session-name.ts';
import { Empty, Problem } from '../parts/empty.tsx';
import { ErrorMark, Icon } from '../parts/icon.tsx';
import { oneLine, plainText } from '../parts/one-line.ts';
import { nothingSaid } from '../parts/reset-words.ts';
import { StatusDot } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { useVirtual } from '../parts/virtual.ts';
import { ArchivedMatches } from './archived-matches.tsx';
import { Bulk } from './bulk.tsx';
import { choosing, chosen, isChoosing, toggle } from './chosen.ts';
import { Filters, filteredBy } from './filters.tsx';
import { Found, foundCount } from './found-messages.tsx';
import { isShownUnread } from './in-sight.ts';
import { NeedsYou } from './needs-you.tsx';
import { filter, hasMore, isUnreadOnly, label, listProblem, readAgain, readMore, search } from './session-list.ts';
import { earlierFailed, saysFailed, whyOf } from './session-why.ts';
import { shownRows } from './shown-rows.ts';
import { channelIn } from './who-writes.ts';

const rowHeight = 80;
/** Labels of a row that are in sight. How many others there are stands beside them. */
const shownLabels = 2;
/** So much of a draft is in sight at most, in characters. */
const draftWidth = 120;
/** How many rows before the end the next page is asked for. */
const aheadRows = 30;

const Row = ({ row, isOpen }: { readonly row: SessionRow; readonly isOpen: boolean }) => {
  const why = whyOf(row, now.value);
  const foundKey = foundKeyOf(row, search.value);
  const written = useComputed(() => oneLine(currentDraft(row.key)?.trim() ?? '', draftWidth)).value;
  // Of the session that is open the draft is in sight in its field.
  const isDraft = written !== '' && !isOpen;
  const preview = isDraft ? written : plainText(row.lastMessagePreview) || nothingSaid(row);
  const channel = channelIn(row);
  const failed = earlierFailed(row);
  const isUnread = isShownUnread(row);
  const { pinned = false, labels = [] } = row.settings;
  return (
    <a
      class={`row ${isOpen ? 'row-open' : ''} ${isUnread ? 'row-unread' : ''}`}
      href={linkTo(['sessions', row.key, 'chat'], listQuery())}
      aria-current={isOpen ? 'true' : undefined}
      onClick={(event) => {
        if (!isChoosing.value) return;
        event.preventDefault();
        toggle(row.key);
      }}
      onKeyDown={moveFocus}
    >
      <StatusDot status={row.status} hasFailed={saysFailed(row)} />
      <span class="row-name">
        <span class="row-title" title={nameOf(row)}>
          {nameWithIcon(row)}
        </span>
        {foundKey !== null && <span class="row-key">{foundKey}</span>}
      </span>
      <span class="row-time">
        <Time at={row.interactedAt || row.updatedAt} />
      </span>
      {why !== null && (
        <span class={`row-text row-why ${saysFailed(row) ? 'row-failed' : ''} ${row.approval === null ? '' : 'row-waits'}`}>
          {saysFailed(row) && <ErrorMark />}
          {why}
        </span>
      )}
      <span class={`row-text ${why === null ? 'row-alone' : ''}`}>
        {isUnread && <span class="row-new">Unread </span>}
        {pinned && <span class="row-pin">Pinned </span>}
        {failed !== null && (
          <span class="row-failures">
            <ErrorMark />
            {failed}{' '}
          </span>
        )}
        {channel !== null && (
          <small class="row-chip row-channel" title={`Channel: ${channel}`}>
            {channel}
          </small>
        )}
        {labels.slice(0, shownLabels).map((each) => (
          <small key={each} class="row-chip row-label" title={each}>
            {each}
          </small>
        ))}
        {labels.length > shownLabels && (
          <small class="row-chip row-label row-more" title={labels.slice(shownLabels).join(', ')}>
            +{labels.length - shownLabels}
          </small>
        )}
        {isDraft && <span class="row-draft">Draft: </span>}
        {preview}
      </span>
    </a>
  );
};

/** Arrow keys move between rows. */
const moveFocus = (event: KeyboardEvent): void => {
  const here = event.currentTarget as HTMLAnchorElement;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [...(here.closest('.rows')?.querySelectorAll<HTMLAnchorElement>('a.row') ?? [])];
  if (step === undefined) return;
  event.preventDefault();
  links[links.indexOf(here) + step]?.focus();
};

/** The heading of a group, in the place of a row. */
const Group = ({
  heading,
  count,
  start,
}: {
  readonly heading: string | null;
  readonly count: number;
  readonly start: number;
}) => (
  <li class="row-group" style={{ transform: `translateY(${start}px)` }}>
    <h2 title={heading ?? undefined}>{heading ?? 'No label'}</h2>
    <span>{counted(count, 'session')}</span>
  </li>
);

const Rows = ({ rows: { items, headingAt } }: { readonly rows: ShownList<SessionRow> }) => {
  const { scroller, rows: shown, height, show } = useVirtual({ count: items.length, rowHeight });
  const [, openKey] = route.value.path;
  const moved = openKey === broughtUp.value ? items.findIndex((item) => !isHeading(item) && item.key === openKey) : -1;
  useLayoutEffect(() => {
    if (moved !== -1) show(moved);
  }, [moved]);
  if (hasMore.value && (shown.at(-1)?.index ?? 0) > items.length - aheadRows) void readMore();
  return (
    <div class="rows" ref={scroller}>
      <ul style={{ height: `${height}px` }}>
        {shown.map(({ index, start }) => {
          const row = items.at(index);
          if (row === undefined) return undefined;
          // No session's key has a space.
          if (isHeading(row)) return <Group key={`group ${row.heading ?? ''}`} {...row} start={start} />;
          return (
            <li
              key={`${headingAt(index) ?? ''} ${row.key}`}
              style={{ transform: `translateY(${start}px)` }}
              class={isChoosing.value ? 'row-choice' : ''}
            >
              {isChoosing.value && (
                <input
                  type="checkbox"
                  aria-label={`Select ${nameOf(row)}`}
                  checked={chosen.value.has(row.key)}
                  onChange={() => toggle(row.key)}
                />
              )}
              <Row row={row} isOpen={row.key === openKey} />
            </li>
          );
        })}
      </ul>
    </div>
  );
};

const NoRows = () =>
  foundCount.value > 0 ? (
    <div class="no-names">
      <p class="hint">No session here has these words in its name.</p>
      <ArchivedMatches />
    </div>
  ) : filter.value !== 'active' || search.value !== '' || label.value !== '' || isUnreadOnly.value ? (
    <Empty title="Nothing matches">
      <p>No session is found by {filteredBy()}.</p>
      {filter.value === 'failed' && (
        <p>
          Failures that a later answer followed are among the{' '}
          <a href={linkTo(['events'], { type: 'turn_failed' })}>answers that failed</a>.
        </p>
      )}
      <ArchivedMatches />
      <button type="button" class="button" onClick={() => changeQuery({ status: '', q: '', label: '', unread: '' })}>
        Show all sessions
      </button>
    </Empty>
  ) : (
    <Empty title="No sessions yet">
      <p>A session begins with its first message. Start one here, or from a terminal:</p>
      <pre>natter send agent:main:main "hello" --wait</pre>
      {mayWrite() && (
        <button type="button" class="button button-first" onClick={newChat}>
          New chat
        </button>
      )}
    </Empty>
  );

export const SessionListView = () => {
  const rows = shownRows.value;
  return (
    <section class={`list ${foundCount.value > 0 ? 'list-found' : ''}`} aria-label="Sessions">
      <header class={`list-head ${isChoosing.value ? 'list-head-choosing' : ''}`}>
        <h1>Sessions</h1>
        {mayWrite() && (
          <div class="list-buttons">
            {!isChoosing.value && (
              <button type="button" class="button button-quiet choose" onClick={() => choosing(true)}>
                Select
              </button>
            )}
            <button type="button" class="button button-quiet" onClick={newChat}>
              <Icon name="plus" /> New chat
            </button>
          </div>
        )}
        <Filters />
        <NeedsYou />
        {isChoosing.value && <Bulk isArchive={filter.value === 'inactive'} />}
      </header>
      {listProblem.value !== null && streamWaits.value === null && (
        <Problem text={listProblem.value} again={() => void readAgain()} />
      )}
      {rows === null ? <p class="loading">Reading…</p> : rows.items.length === 0 ? <NoRows /> : <Rows rows={rows} />}
      <Found />
    </section>
  );
};
