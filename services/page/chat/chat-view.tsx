import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Session } from '../../../shared/client/main.ts';
import { linkTo } from '../base/route.ts';
import { isViewer, mayWrite } from '../base/signed-in.ts';
import { takeDrops } from '../files/drop.ts';
import { Empty } from '../parts/empty.tsx';
import { growingItem } from './answers.ts';
import { useAskedApproval } from './asked-approval.ts';
import { useAskedMessage } from './asked-message.ts';
import type { ChatItem } from './chat-model.ts';
import { ChatStore } from './chat-store.ts';
import { Composer } from './composer.tsx';
import { Connection } from './connection.tsx';
import { Item } from './items.tsx';
import { leftWords, runsOf } from './resets.ts';
import { Sent } from './sent.tsx';
import { answerEnd, waitingIn } from './waiting.ts';

/** How near the end, or the beginning, in px, counts as being there. */
const [endPixels, earlyPixels] = [80, 400];
/** The line of a reset after which nobody has said anything yet: a chat opens with it in sight, whatever the agent says. */
const newReset = '.mark-beginning:not(:has(~ .said-user, ~ .mark-beginning))';

/** An item that has not changed is not drawn again: a chat is long, and its last line grows sixty times a second. */
const drawn = new WeakMap<ChatItem, VNode>();
const drawing = (item: ChatItem, store: ChatStore): VNode => {
  const known = drawn.get(item) ?? <Item key={item.id} item={item} store={store} />;
  drawn.set(item, known);
  return known;
};

const History = ({ store }: { readonly store: ChatStore }) => {
  const { items } = store.chat.value;
  return useMemo(() => {
    const below = belowAnswer(items);
    return (
      <>
        {runsOf(items.filter((item) => !below.has(item))).map((run) => {
          const drawnItems = run.map((item) => drawing(item, store));
          if (run[0]?.leftBy === undefined) return drawnItems;
          return (
            <details key={`left ${run[0].id}`} class="left-behind">
              <summary>{leftWords(run, items)}</summary>
              {drawnItems}
            </details>
          );
        })}
      </>
    );
  }, [items, store]);
};

/** What waits in the queue, or was dropped from it, stands below the answer that is under way. */
const belowAnswer = (items: readonly ChatItem[]) => new Set([...items.slice(answerEnd(items)), ...waitingIn(items)]);
const Queue = ({ store }: { readonly store: ChatStore }) => {
  const { items } = store.chat.value;
  return useMemo(() => {
    const below = belowAnswer(items);
    return <>{items.filter((item) => below.has(item)).map((item) => drawing(item, store))}</>;
  }, [items, store]);
};

const Growing = ({ store }: { readonly store: ChatStore }) => {
  const growing = growingItem(store.chat.value);
  return growing && <Item item={growing} store={store} />;
};

/** In place of a conversation of which nothing was said yet. */
const Beginning = ({ store: { chat, outgoing, isRead, isUnknown } }: { readonly store: ChatStore }) => {
  if (chat.value.items.length + outgoing.value.length > 0) return null;
  if (!isRead.value) return <p class="loading loading-late">Reading…</p>;
  return isUnknown.value ? (
    <Empty title="There is no session with this key">
      <p>A first message would begin it.</p>
    </Empty>
  ) : (
    <Empty title="A new conversation">
      <p>Say something, and it begins. All of it is kept in the log, and nothing that was acknowledged is lost.</p>
    </Empty>
  );
};

const isNearEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement) => scrollHeight - scrollTop - clientHeight < endPixels;

/** Brings a chat to its end; as it opens, not past the line of a new reset. Tells what is above then, its height, px, and whether it is there. */
const scrollToEnd = (list: HTMLElement, isAsOpened: boolean) => {
  const reset = isAsOpened ? list.querySelector(newReset) : null;
  const hidden = reset ? reset.getBoundingClientRect().top - list.getBoundingClientRect().top : list.scrollHeight;
  list.scrollTop = Math.min(list.scrollHeight, list.scrollTop + hidden);
  return { top: list.scrollTop, height: list.clientHeight, isEnd: isNearEnd(list) };
};

/** Calls `follow` when what a chat shows has another height, and `stay` when somebody unfolds a part of it, until what it returns is called. */
const watched = (list: HTMLElement, { follow, stay }: { follow(): void; stay(): void }): (() => void) => {
  const [drawnAgain, resized, ended] = [new MutationObserver(follow), new ResizeObserver(follow), new AbortController()];
  const { signal } = ended;
  drawnAgain.observe(list, { childList: true, characterData: true, subtree: true });
  resized.observe(list);
  // What was not in sight has a guessed height until it is drawn.
  list.addEventListener('contentvisibilityautostatechange', follow, { signal });
  const noteClick = ({ target }: Event): void => {
    if (target instanceof Element && target.closest('summary')) stay();
  };
  list.addEventListener('click', noteClick, { signal });
  return () => {
    drawnAgain.disconnect();
    resized.disconnect();
    ended.abort();
  };
};

const Messages = ({ store }: { readonly store: ChatStore }) => {
  const scroller = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  const isAway = useSignal(false);
  /** Where it was when it was last scrolled or brought to its end: what was above, its height, px, and whether that was the end. */
  const seen = useRef({ top: 0, height: 0, isEnd: false });
  /** Nobody has scrolled or sent anything yet. */
  const isAsOpened = useRef(true);
  /** Height below the first item, while what is before it comes in. */
  const below = useRef(0);
  const { chat, outgoing, earlier } = store;
  const first = chat.value.items[0]?.id;
  /** Whoever edits a message sees that one, not the end; who writes in another field meanwhile does not. */
  const isEditing = (): boolean => Boolean(scroller.current?.querySelector('.said-edit:focus-within'));
  const toEnd = (): void => {
    const { current } = scroller;
    if (current === null) return;
    seen.current = scrollToEnd(current, isAsOpened.current);
    isAway.value = !seen.current.isEnd;
  };
  const toNewest = (): void => {
    isAsOpened.current = false;
    toEnd();
  };
  useLayoutEffect(() => {
    // Whoever sends something wants to see what comes of it.
    if (outgoing.value.length > 0) [isAtEnd.current, isAsOpened.current] = [true, false];
  }, [outgoing.value]);
  useLayoutEffect(() => {
    // Its parts are drawn each by itself, and what is above or below it comes in later: its end is to stay in sight.
    const follow = (): void => {
      if (isAtEnd.current && !isEditing()) toEnd();
    };
    // Whoever unfolds something reads it from its beginning.
    const stay = (): void => {
      isAtEnd.current = false;
    };
    follow();
    return scroller.current ? watched(scroller.current, { follow, stay }) : undefined;
  }, []);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current && !isAtEnd.current && below.current > 0) current.scrollTop = current.scrollHeight - below.current;
    below.current = 0;
  }, [first]);
  useAskedMessage(store, scroller, isAtEnd);
  useAskedApproval(scroller, isAtEnd);
  const readEarlier = (): void => {
    const { scrollHeight = 0, scrollTop = 0 } = scroller.current ?? {};
    below.current = scrollHeight - scrollTop;
    void store.readEarlier();
  };
  const noteScroll = (): void => {
    if (scroller.current === null) return;
    const { scrollTop, clientHeight } = scroller.current;
    const { top, height, isEnd } = seen.current;
    // From the end nobody scrolls down: the browser does, where what is above is drawn at its true height only now.
    const hasMoved = clientHeight === height && (isEnd ? scrollTop < top : scrollTop !== top);
    const isNear = isNearEnd(scroller.current);
    // Nobody has left the end: its height is another, or the text is drawn at its true height only now.
    if (isAtEnd.current && !isNear && !hasMoved && !isEditing()) return toEnd();
    if (hasMoved) isAsOpened.current = false;
    seen.current = { top: scrollTop, height: clientHeight, isEnd: isNear };
    isAtEnd.current = isNear;
    isAway.value = !isNear;
    if (scrollTop < earlyPixels && !isAtEnd.current && earlier.value !== null) readEarlier();
  };
  return (
    <div class="messages-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="messages" ref={scroller} onScroll={noteScroll} tabIndex={0} aria-label="Conversation">
        {earlier.value !== null && (
          <button type="button" class="button button-quiet earlier" onClick={readEarlier}>
            Show earlier messages
          </button>
        )}
        <History store={store} />
        <Growing store={store} />
        {chat.value.isRunning && chat.value.live === null && <p class="thinking">Working…</p>}
        <Queue store={store} />
        {outgoing.value.map((one) => (
          <Sent key={one.messageId} one={one} store={store} />
        ))}
        <Beginning store={store} />
      </section>
      {isAway.value && (
        <button type="button" class="button to-end" onClick={toNewest}>
          To the newest
        </button>
      )}
    </div>
  );
};

/** The end of a conversation that was deleted. Its key is free: whoever writes there begins anew. */
const Ending = ({ begin }: { begin(): void }) => (
  <footer class="chat-ending">
    <p>
      <b>This session was deleted.</b> It is in no list and no search. What was said stays in the log, for its owner alone, until
      the operator erases it (natter erase).
    </p>
    {!isViewer() && (
      <a class="button" href={linkTo(['sessions'])}>
        All sessions
      </a>
    )}
    {mayWrite() && (
      <button type="button" class="button button-quiet" onClick={begin}>
        Begin anew here
      </button>
    )}
  </footer>
);

/** A conversation as it goes on. */
export const ChatView = ({ sessionKey, row }: { readonly sessionKey: string; readonly row: Session | null }) => {
  const store = useMemo(() => new ChatStore(sessionKey), [sessionKey]);
  const isBegun = useSignal(false);
  useEffect(() => () => store.close(), [store]);
  return (
    <div class="chat" {...takeDrops(sessionKey, store.field)}>
      <Connection store={store} />
      <Messages store={store} />
      {store.chat.value.isDeleted && !isBegun.value ? (
        <Ending
          begin={() => {
            isBegun.value = true;
          }}
        />
      ) : (
        <Composer store={store} row={row} />
      )}
    </div>
  );
};
