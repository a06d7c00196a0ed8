import { useEffect, useState } from 'preact/hooks';
import { NatterApiError, type Session } from '../../../shared/client/main.ts';
import { isMemorySession } from '../../../shared/domain/memory/memory-session.ts';
import { begun, isUnwritten } from '../base/new-chat.ts';
import { linkTo, listQuery, route } from '../base/route.ts';
import { client, isViewer, mayShare } from '../base/signed-in.ts';
import { onEvent } from '../base/system-events.ts';
import { ChatView } from '../chat/chat-view.tsx';
import { knownNameOf, nameAtHand } from '../finding/known-names.ts';
import { nameOf, nameWithIcon } from '../finding/session-name.ts';
import { lazy } from '../loading/lazy.tsx';
import { Empty, NoSuchView } from '../parts/empty.tsx';
import { Icon } from '../parts/icon.tsx';
import { StatusBadge } from '../parts/status.tsx';
import { markedUnread, onceInSight, readHere } from './in-sight.ts';
import { Facts, Why } from './session-about.tsx';
import { SessionActions } from './session-actions.tsx';
import { readAgain, rows } from './session-list.ts';
import { saysFailed } from './session-why.ts';

const TimeMachine = lazy(() => import('../time-machine/time-machine-view.tsx'));
const Transcript = lazy(() => import('../transcript/transcript-view.tsx'));
const ShareDialog = lazy(() => import('./share.tsx'));

const tabs = [
  ['chat', 'Chat'],
  ['transcript', 'Transcript'],
  ['time', 'Time machine'],
] as const;

/** For whoever may make tokens. */
const ShareButton = ({ session }: { readonly session: Session }) => {
  const [isOpen, open] = useState(false);
  if (!mayShare()) return null;
  return (
    <>
      <button type="button" class="button button-quiet share" onClick={() => open(true)}>
        Share…
      </button>
      {isOpen && <ShareDialog session={session} close={() => open(false)} />}
    </>
  );
};

/**
 * The session as the gateway has it now; read again whenever its row in the list has moved, or something was recorded where the list's
 * filter hides it. `null`: there is none, yet or any more. `undefined`: that is not known yet.
 */
const useSession = (key: string): Session | null | undefined => {
  const [known, know] = useState<{ readonly key: string; readonly session: Session | null } | null>(null);
  const [heard, hear] = useState(0);
  useEffect(() => onEvent((event) => event.key === key && hear(event.seq)), [key]);
  const seq = rows.value?.byKey.get(key)?.seq ?? heard;
  const isNew = isUnwritten(key);
  useEffect(() => {
    if (isNew) return undefined;
    const controller = new AbortController();
    client.sessions.get(key, { signal: controller.signal, patienceMs: Number.POSITIVE_INFINITY }).then(
      (session) => know({ key, session }),
      (error: unknown) => {
        if (error instanceof NatterApiError && error.code === 'not_found') know({ key, session: null });
      },
    );
    return () => controller.abort();
  }, [key, seq, isNew]);
  if (isNew) return null;
  return known?.key === key ? known.session : undefined;
};

/** A session that is open for a shorter time, ms, was passed on the way to another. */
const passedMs = 1_000;

/**
 * Whoever has the chat or the transcript open for a while has seen what is in it and what comes, as long as the page is in sight. A session
 * that is marked as new while it is open stays so until its next message.
 */
const useSeen = (session: Session | null, isShown: boolean): void => {
  const { key, lastMessageId, unread = false } = session ?? {};
  const [stayedIn, stayIn] = useState<string | null>(null);
  useEffect(() => {
    if (key === undefined || !isShown) return undefined;
    const end = onceInSight(document, passedMs, () => stayIn(key));
    return () => {
      end();
      stayIn(null);
    };
  }, [key, isShown]);
  const hasStayed = key !== undefined && stayedIn === key;
  useEffect(() => {
    if (!hasStayed) return undefined;
    readHere.value = key;
    return () => {
      readHere.value = null;
      markedUnread.value = null;
    };
  }, [key, hasStayed]);
  useEffect(() => {
    if (!hasStayed || !unread) return undefined;
    return onceInSight(document, 0, () => void client.sessions.markRead(key).then(readAgain, () => {}));
  }, [key, lastMessageId, hasStayed]);
};

/** What people call the session. Until that is known no key stands in for it: the key would make way for the name in a moment. */
const titleOf = (key: string, session: Session | null | undefined): string => {
  if (session) return nameOf(session);
  if (begun.value === key) return 'New chat';
  return session === null ? knownNameOf(key) : (nameAtHand(key) ?? 'Session');
};

interface HeadProps {
  readonly sessionKey: string;
  readonly name: string;
  readonly session: Session | null;
  readonly tab: string;
}

/**
 * The tabs stand above all that is said of the session, which may be one line or more. It is folded away on a small screen, and above the
 * time machine, which needs the height and says what the session was. The status stays that of now, and says so there.
 */
const Head = ({ sessionKey, name, session, tab }: HeadProps) => {
  const { at, compare } = route.value.query;
  const isPast = tab === 'time' && at !== undefined;
  const [isOpen, open] = useState(false);
  return (
    <header class={`session-head ${tab === 'time' ? 'session-head-folds' : ''}`}>
      <div class="session-title">
        {!isViewer() && (
          <a
            class="button button-round button-quiet to-list"
            href={linkTo(['sessions'], listQuery())}
            aria-label="Back to the list"
          >
            <Icon name="back" />
          </a>
        )}
        <h1 title={name}>{session ? nameWithIcon(session) : name}</h1>
        {session && session.generation > 0 && (
          <span class={tab === 'time' ? 'session-now' : ''}>
            {tab === 'time' && 'Now: '}
            <StatusBadge status={session.status} hasFailed={saysFailed(session)} />
          </span>
        )}
        {session && !isMemorySession(session.key) && <ShareButton key={session.key} session={session} />}
      </div>
      <div class="session-bar">
        <nav class="tabs" aria-label="Views of this session">
          {tabs.map(([name, words]) => (
            <a
              key={name}
              // Who has compared forks was at no moment.
              href={linkTo(['sessions', sessionKey, name], { ...listQuery(), at: compare === undefined ? at : undefined })}
              aria-current={name === tab ? 'page' : undefined}
            >
              {words}
            </a>
          ))}
        </nav>
        {session && (
          <button
            type="button"
            class="about-toggle"
            aria-expanded={isOpen}
            aria-controls="session-about"
            onClick={() => open(!isOpen)}
          >
            Details
          </button>
        )}
      </div>
      <div id="session-about" class={`session-about ${isOpen ? 'session-about-open' : ''}`}>
        <p class="session-facts">
          <span class="session-key">{sessionKey}</span>
          {session && <Facts session={session} isPast={isPast} />}
        </p>
        {session ? <Why session={session} /> : <p class="why" />}
        {session && !isMemorySession(session.key) ? (
          <SessionActions key={session.key} session={session} />
        ) : (
          <div class="session-actions" />
        )}
      </div>
    </header>
  );
};

/** In place of the past of a session that has none to show. `isNew`: this tab has just begun it. */
const NoPast = ({ isNew }: { readonly isNew: boolean }) => (
  <Empty title="There is nothing to show">
    {isNew ? (
      <p>Nothing was said in it yet.</p>
    ) : (
      <>
        <p>This session was deleted, or nothing was said in it yet.</p>
        <p>What was said in a deleted one stays in the log, for its owner alone.</p>
      </>
    )}
  </Empty>
);

/** In place of the chat of a session in which nobody talks. */
const NoChat = () => (
  <Empty title="There is no chat here">
    <p>
      This is where memories added by hand are recorded. They are read and changed under{' '}
      <a href={linkTo(['system', 'memory'])}>Memory</a>.
    </p>
  </Empty>
);

/** One session: its chat, its transcript, and its past. */
export const SessionView = ({ sessionKey, tab }: { readonly sessionKey: string; readonly tab: string }) => {
  const found = useSession(sessionKey);
  const session = found ?? null;
  const name = titleOf(sessionKey, found);
  useSeen(session, tab !== 'time');
  useEffect(() => {
    if (!isViewer()) document.title = `${name} · Natter`;
  }, [name]);
  return (
    <section class="session" aria-label="Session">
      <Head key={sessionKey} sessionKey={sessionKey} name={name} session={session} tab={tab} />
      {!tabs.some(([name]) => name === tab) ? (
        <NoSuchView link={linkTo(['sessions', sessionKey, 'chat'], listQuery())} words="Open the chat" />
      ) : found === null && (tab !== 'chat' || isViewer()) ? (
        <NoPast isNew={isUnwritten(sessionKey)} />
      ) : tab === 'time' ? (
        <TimeMachine key={sessionKey} sessionKey={sessionKey} />
      ) : tab === 'transcript' ? (
        <Transcript key={sessionKey} sessionKey={sessionKey} name={session ? nameOf(session) : undefined} />
      ) : isMemorySession(sessionKey) ? (
        <NoChat />
      ) : (
        <ChatView key={sessionKey} sessionKey={sessionKey} row={session} />
      )}
    </section>
  );
};
