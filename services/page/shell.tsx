import type { ComponentType } from 'preact';
import { useRef } from 'preact/hooks';
import { approvals } from './approvals/approval-list.ts';
import { linkTo, route } from './base/route.ts';
import { type Audience, isFor, who } from './base/signed-in.ts';
import { streamProblem, streamWaits } from './base/system-events.ts';
import { lazy } from './loading/lazy.tsx';
import { isPaletteOpen } from './palette/open.ts';
import { Announcements } from './parts/announce.tsx';
import { Empty, NoSuchView } from './parts/empty.tsx';
import { Icon, type IconName } from './parts/icon.tsx';
import { SessionListView } from './sessions/session-list-view.tsx';
import { SessionView } from './sessions/session-view.tsx';
import { SharedView } from './sessions/shared-view.tsx';
import { paletteKeys, ShortcutHelp } from './shortcuts/shortcuts.tsx';
import { SignInView } from './sign-in/sign-in-view.tsx';

const places: readonly (readonly [name: string, words: string, icon: IconName, audience: Audience])[] = [
  ['sessions', 'Sessions', 'sessions', 'channel'],
  ['approvals', 'Approvals', 'approvals', 'everybody'],
  ['events', 'Events', 'events', 'channel'],
  ['system', 'System', 'system', 'person'],
  ['account', 'You', 'account', 'everybody'],
];
const visiblePlaces = () => places.filter(([, , , audience]) => isFor(audience));

const openPalette = (): void => {
  isPaletteOpen.value = true;
};

/** The list and a session stand side by side, as in sessions.css. */
const wide = matchMedia('(width >= 760px)');

const Navigation = ({ current }: { readonly current: string }) => {
  const waiting = approvals.value?.length ?? 0;
  // Where the list is beside it, a session stays open, and is there again on the way back.
  const lastSessions = useRef('');
  const { path, query } = route.value;
  if (path[0] === 'sessions') lastSessions.current = linkTo(path, query);
  const addressOf = (name: string): string => (name === 'sessions' && wide.matches && lastSessions.current) || linkTo([name]);
  return (
    <nav class="rail" aria-label="Main">
      <span class="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="9" />
          <path d="M9 22V10.500c0-.9 1.100-1.300 1.700-.6l10.600 12.200c.6.7 1.700.3 1.700-.6V10" />
        </svg>
        <span class="brand-name">Natter</span>
      </span>
      <ul>
        {visiblePlaces().map(([name, words, icon]) => (
          <li key={name}>
            <a href={addressOf(name)} aria-current={name === current ? 'page' : undefined}>
              <Icon name={icon} />
              <span class="place-name" data-bold={words}>
                {words}
              </span>
              {name === 'approvals' && waiting > 0 && (
                <b class="count">
                  {waiting}
                  <span class="unseen"> waiting</span>
                </b>
              )}
            </a>
          </li>
        ))}
        <li>
          <button type="button" onClick={openPalette}>
            <Icon name="search" />
            <span>Search</span> <kbd>{paletteKeys.keys}</kbd>
          </button>
        </li>
      </ul>
    </nav>
  );
};

const Sessions = () => {
  const [, key, tab = 'chat'] = route.value.path;
  return (
    <div class={`split ${key === undefined ? 'split-list' : 'split-one'}`}>
      <SessionListView />
      {key === undefined ? (
        <section class="session session-none" aria-label="Session">
          <Empty title="Choose a session">
            <p>
              A session is one conversation with the agent. Open one to read on and answer, or to see each step that led there and
              continue from any of them.
            </p>
          </Empty>
        </section>
      ) : (
        <SessionView sessionKey={key} tab={tab} />
      )}
    </div>
  );
};

const Nowhere = () => <NoSuchView link={linkTo(['sessions'])} words="All sessions" />;

const Palette = lazy(() => import('./palette/palette.tsx'));
const ExportView = lazy(() => import('./export-viewer/export-view.tsx'));
const views: Readonly<Record<string, ComponentType<object>>> = {
  sessions: Sessions,
  approvals: lazy(() => import('./approvals/approvals-view.tsx')),
  events: lazy(() => import('./events/events-view.tsx')),
  system: lazy(() => import('./system/system-view.tsx')),
  account: lazy(() => import('./account/account-view.tsx')),
  export: ExportView,
};
const titles: ReadonlyMap<string, string> = new Map(places.map(([name, words]) => [name, words]));

/** The place of the navigation that leads to a view. */
const leadsTo = (view: string): string => (view === 'export' ? 'system' : view);

/** The page: who is not signed in sees how to, all others where the address leads. */
export const Shell = () => {
  if (route.value.path[0] === 'export' && !who.value)
    return (
      <main id="main" class="alone">
        <ExportView />
      </main>
    );
  if (who.value === undefined) return <p class="loading">Natter…</p>;
  if (who.value === null) return <SignInView />;
  if (who.value.sessionKey !== undefined) return <SharedView sessionKey={who.value.sessionKey} expiresAt={who.value.expiresAt} />;
  const [first = who.value.role === 'approver' ? 'approvals' : 'sessions', key] = route.value.path;
  const View = (Object.hasOwn(views, first) ? views[first] : undefined) ?? Nowhere;
  const place = first === 'approvals' && key !== undefined ? `Approval ${key}` : key;
  const title = View === Nowhere ? 'No such view' : (place ?? titles.get(first) ?? 'Exported file');
  // A session names the tab itself, as soon as its name is known.
  if (first !== 'sessions' || key === undefined) document.title = `${title} · Natter`;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      {first === 'sessions' && key !== undefined && (
        <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('.session .tabs a')?.focus()}>
          Skip to the session
        </button>
      )}
      <Navigation current={leadsTo(first)} />
      <main id="main" tabIndex={-1}>
        {streamProblem.value !== null && (
          <p class="waiting" role="status" title={streamWaits.value ?? undefined}>
            {streamProblem.value}
          </p>
        )}
        <View />
      </main>
      <ShortcutHelp />
      {isPaletteOpen.value && <Palette />}
      <Announcements />
    </>
  );
};
