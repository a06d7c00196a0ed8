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
import { leftWords } from './resets.ts';
import { Sent } from './sent.tsx';
import { answerEnd, waitingIn } from './waiting.ts';

/** How near the end, or the beginning, in px, counts as being there. */
const [endPixels, earlyPixels] = [80, 400];

/** An item that has not changed is not drawn again: a chat is long, and its last line grows sixty times a second. */
const drawn = new WeakMap<ChatItem, VNode>();
const drawing = (item: ChatItem, store: ChatStore): VNode => {
  const known = drawn.get(item) ?? <Item key={item.id} item={item} store={store} />;
  drawn.set(item, known);
  return known;
};

/** The items in runs of those that a fork left behind, and those that it did not. */
const runsOf = (items: readonly ChatItem[]): ChatItem[][] => {
  const runs: ChatItem[][] = [];
  for (const item of items) {
    const last = runs.at(-1);
    if (last && (last[0]?.isLeft ?? false) === (item.isLeft ?? false)) last.push(item);
    else runs.push([item]);
  }
  return runs;
};

const History = ({ store }: { readonly store: ChatStore }) => {
  const { items } = store.chat.value;
  return useMemo(() => {
    const below = belowAnswer(items);
    return (
      <>
        {runsOf(items.filter((item) => !below.has(item))).map((run) => {
          const drawnItems = run.map((item) => drawing(item, store));
          if (!run[0]?.isLeft) return drawnItems;
          return (
            <details key={`left ${run[0].id}`} class="left-behind">
              <summary>{leftWords(run)}</summary>
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
const Beginning = ({ isUnknown }: { readonly isUnknown: boolean }) =>
  isUnknown ? (
    <Empty title="There is no session with this key">
      <p>A first message would begin it.</p>
    </Empty>
  ) : (
    <Empty title="A new conversation">
      <p>Say something, and it begins. All of it is kept in the log, and nothing that was acknowledged is lost.</p>
    </Empty>
  );

const Messages = ({ store }: { readonly store: ChatStore }) => {
  const scroller = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  const isAway = useSignal(false);
  /** Where it was when it was last scrolled or brought to its end: what was above, and its height, px. */
  const seen = useRef({ top: 0, height: 0 });
  /** Height below the first item, while what is before it comes in. */
  const below = useRef(0);
  const { chat, outgoing, earlier } = store;
  const first = chat.value.items[0]?.id;
  const toEnd = (): void => {
    const { current } = scroller;
    if (current === null) return;
    current.scrollTop = current.scrollHeight;
    seen.current = { top: current.scrollTop, height: current.clientHeight };
  };
  useLayoutEffect(() => {
    // Whoever sends something wants to see what comes of it.
    if (outgoing.value.length > 0) isAtEnd.current = true;
  }, [outgoing.value]);
  useLayoutEffect(() => {
    // Its parts are drawn each by itself, and what is above or below it comes in later: its end is to stay in sight.
    const follow = (): void => {
      if (isAtEnd.current) toEnd();
    };
    const [drawnAgain, resized] = [new MutationObserver(follow), new ResizeObserver(follow)];
    const { current } = scroller;
    if (current) {
      drawnAgain.observe(current, { childList: true, characterData: true, subtree: true });
      resized.observe(current);
      // What was not in sight has a guessed height until it is drawn.
      current.addEventListener('contentvisibilityautostatechange', follow);
    }
    follow();
    return () => {
      drawnAgain.disconnect();
      resized.disconnect();
      current?.removeEventListener('contentvisibilityautostatechange', follow);
    };
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
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = scroller.current ?? {};
    const hasMoved = scrollTop !== seen.current.top && clientHeight === seen.current.height;
    const isNearEnd = scrollHeight - scrollTop - clientHeight < endPixels;
    // Nobody has left the end: its height is another, or the text is drawn at its true height only now.
    if (isAtEnd.current && !isNearEnd && !hasMoved) return toEnd();
    seen.current = { top: scrollTop, height: clientHeight };
    isAtEnd.current = isNearEnd;
    isAway.value = !isAtEnd.current;
    if (scrollTop < earlyPixels && !isAtEnd.current && earlier.value !== null) readEarlier();
  };
  const isBare = chat.value.items.length + outgoing.value.length === 0;
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
        {isBare &&
          (store.isRead.value ? <Beginning isUnknown={store.isUnknown.value} /> : <p class="loading loading-late">Reading…</p>)}
      </section>
      {isAway.value && (
        <button type="button" class="button to-end" onClick={toEnd}>
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
