import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { SessionPage, SessionRow } from '../../../shared/client/main.ts';
import { focusSoon } from '../base/focus.ts';
import { newChat } from '../base/new-chat.ts';
import { go, linkTo, route } from '../base/route.ts';
import { client } from '../base/signed-in.ts';
import { openApprovals } from '../base/waiting-approval.ts';
import { beside, type Destination, fitting } from '../finding/destinations.ts';
import { filteredViews } from '../finding/filtered-views.ts';
import { nameOf, withoutAgent } from '../finding/session-name.ts';
import { Dialog } from '../parts/confirm.tsx';
import { rows } from '../sessions/session-list.ts';
import { systemPlaces } from '../system/system-view.tsx';
import { isPaletteOpen } from './open.ts';

const [mostSessions, mostPlaces] = [8, 10];
/** How many of the newest matches the gateway is asked for: one that is named exactly so may be older than others. */
const mostFound = 100;
/** How long somebody has stopped typing before the gateway is asked, ms. */
const settleMs = 150;
/** How long a gateway that does not answer is tried again, ms. */
const patienceMs = 2_000;

const place = (words: string, says: string, path: readonly string[]): Destination => ({
  ...{ id: path.join('/'), words, says },
  go: () => go(path),
});
const filteredPlaces = filteredViews.map(
  ({ words, says, path, query }): Destination => ({ id: linkTo(path, query), words, says, go: () => go(path, query) }),
);
const sessionPlace = (row: SessionRow): Destination => ({
  ...{ id: row.key, words: nameOf(row), icon: row.settings.icon, says: withoutAgent(row.shownKey) },
  go: () => {
    go(['sessions', row.key, 'chat']);
    // From there Tab goes on in the session, not through the list.
    focusSoon('.session .tabs [aria-current]');
  },
});

/** The views of the session that is open come first: whoever is in it wants them most. */
const places = (): readonly Destination[] => {
  const [first, key] = route.peek().path;
  const ofSession =
    first === 'sessions' && key !== undefined
      ? [
          place('Chat', 'of this session', ['sessions', key, 'chat']),
          place('Transcript', 'of this session', ['sessions', key, 'transcript']),
          place('Time machine', 'of this session', ['sessions', key, 'time']),
        ]
      : [];
  return [
    ...ofSession,
    { id: 'new', words: 'New chat', says: 'begin a new session', go: newChat },
    place('Sessions', 'all of them', ['sessions']),
    { ...place('Approvals', 'tool calls that wait for an answer', ['approvals']), go: openApprovals },
    place('Events', 'all that is recorded, as it happens', ['events']),
    place('System', 'hosts, health, settings, log', ['system']),
    place('You', 'your account, light or dark, signing out', ['account']),
    ...filteredPlaces,
    ...systemPlaces().map(({ name, words, says }) => place(words, says, ['system', name])),
    place('Exported file', 'read one in this tab', ['export']),
  ];
};

/** What the gateway has found for some words. */
interface Found {
  readonly words: string;
  readonly sessions: readonly SessionRow[];
}

/** Sessions whose names have these words: those of the list at once, the others as soon as the gateway has found them, which it `isLooking` for. */
const useSessions = (typed: string): { readonly sessions: readonly Destination[]; readonly isLooking: boolean } => {
  const words = typed.trim();
  const [found, know] = useState<Found>({ words: '', sessions: [] });
  useEffect(() => {
    if (words === '') return know({ words, sessions: [] });
    const controller = new AbortController();
    const { signal } = controller;
    const timer = setTimeout(() => {
      const query = { q: words, status: 'all', limit: mostFound };
      client.get<SessionPage>('/v1/sessions', { query, patienceMs, signal }).then(
        ({ sessions }) => !signal.aborted && know({ words, sessions }),
        // What is on the list is still found.
        () => !signal.aborted && know({ words, sessions: [] }),
      );
    }, settleMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [words]);
  const listed = rows.value;
  const sessions = useMemo(() => {
    const known = new Map([...found.sessions, ...(listed?.list ?? [])].map((row) => [row.key, row]));
    const all = [...known.values()].sort((one, other) => other.updatedAt - one.updatedAt);
    return fitting(all.map(sessionPlace), withoutAgent(words), mostSessions);
  }, [found, listed, words]);
  return { sessions, isLooking: found.words !== words };
};

const Palette = () => {
  const [typed, type] = useState('');
  const [chosen, choose] = useState(0);
  const { sessions, isLooking } = useSessions(typed);
  /** Enter was pressed before the sessions were found: the first of all is opened then. */
  const [isEntered, enter] = useState(false);
  const all = useMemo(places, []);
  const words = typed.trim();
  const inMessages: Destination = {
    ...{ id: 'messages', words: `Search all messages for “${words}”`, says: '' },
    go: () => go(['sessions'], { q: words, status: 'all' }),
  };
  // The best of both come first: a session that is named exactly so, before a view of which it is said.
  const found = fitting([...fitting(all, typed, mostPlaces), ...sessions], withoutAgent(typed), mostPlaces + mostSessions);
  const options = [...found, ...(words === '' ? [] : [inMessages])];
  const at = Math.min(chosen, options.length - 1);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [at]);
  const close = (): void => {
    isPaletteOpen.value = false;
  };
  const take = (destination: Destination | undefined): void => {
    if (destination === undefined) return;
    // The browser's dialog gives the focus back as it closes; from there it goes to the content, as by the keys of the page.
    list.current?.closest('dialog')?.close();
    close();
    document.getElementById('main')?.focus();
    destination.go();
  };
  useEffect(() => {
    if (isEntered && !isLooking) take(options[at]);
  }, [isEntered, isLooking]);
  const press = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === 'ArrowDown') choose(beside(at, 1, options.length));
    else if (event.key === 'ArrowUp') choose(beside(at, -1, options.length));
    else if (event.key === 'Enter' && isLooking && chosen === 0) enter(true);
    else if (event.key === 'Enter') take(options[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog
      title="Search"
      close={close}
      buttons={
        <>
          <small class="hint palette-keys">↑ ↓ choose, Enter opens</small>
          <button type="button" class="button" onClick={close}>
            Close
          </button>
        </>
      }
    >
      <input
        type="text"
        class="palette-field"
        role="combobox"
        aria-label="A view, a session by its name, or what was said"
        placeholder="A view, a session by its name, or what was said"
        aria-expanded="true"
        aria-controls="palette-options"
        aria-activedescendant={options.length === 0 ? undefined : `palette-${at}`}
        autocomplete="off"
        value={typed}
        onInput={(event) => {
          type(event.currentTarget.value);
          choose(0);
          enter(false);
        }}
        onKeyDown={press}
      />
      <p class="hint palette-looking" role="status">
        {isEntered ? 'Looking for sessions, then the first is opened…' : ''}
      </p>
      <div id="palette-options" class="palette" role="listbox" aria-label="Views and sessions" ref={list}>
        {options.map((option, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
          <div
            key={option.id}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => take(option)}
          >
            <span>
              {option.icon} {option.words}
            </span>{' '}
            <small>{option.says}</small>
          </div>
        ))}
      </div>
    </Dialog>
  );
};
export default Palette;
