import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { SessionRow } from '../../../shared/client/main.ts';
import { Empty, Problem } from '../parts/empty.tsx';
import { shownItems } from './chat-model.ts';
import { ChatStore, type Outgoing } from './chat-store.ts';
import { Composer } from './composer.tsx';
import { Item } from './items.tsx';

const Sent = ({ one, store }: { readonly one: Outgoing; readonly store: ChatStore }) => (
  <article class="said said-user said-outgoing">
    <header>
      <span class="said-who">You</span>
      <span>{one.problem === null ? 'sending…' : 'not sent'}</span>
    </header>
    <p class="plain">{one.text}</p>
    {one.problem !== null && <Problem text={one.problem} again={() => void store.send(one.text, one.messageId)} />}
  </article>
);

/** How near the end, in px, counts as being there. */
const endPixels = 80;

const Messages = ({ store }: { readonly store: ChatStore }) => {
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const isAway = useSignal(false);
  const items = shownItems(store.chat.value);
  const outgoing = store.outgoing.value;
  const toEnd = (): void => {
    if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  };
  useLayoutEffect(() => {
    if (isAtEnd.current) toEnd();
  }, [items, outgoing]);
  const noteScroll = (): void => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = scroller.current ?? {};
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < endPixels;
    isAway.value = !isAtEnd.current;
  };
  return (
    <div class="messages-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="messages" ref={scroller} onScroll={noteScroll} tabIndex={0} aria-label="Conversation">
        {store.hiddenUntil.value > 0 && (
          <button type="button" class="button button-quiet earlier" onClick={() => void store.readAll()}>
            Show the whole history
          </button>
        )}
        {items.map((item) => (
          <Item key={item.id} item={item} sessionKey={store.key} />
        ))}
        {outgoing.map((one) => (
          <Sent key={one.messageId} one={one} store={store} />
        ))}
        {store.isRead.value && items.length + outgoing.length === 0 && (
          <Empty title="A new conversation">
            <p>Say something, and it begins. All of it is kept in the log, and nothing that was acknowledged is lost.</p>
          </Empty>
        )}
        {store.chat.value.isRunning && store.chat.value.live === null && <p class="thinking">Working…</p>}
      </section>
      {isAway.value && (
        <button type="button" class="button to-end" onClick={toEnd}>
          To the newest
        </button>
      )}
    </div>
  );
};

/** A conversation as it goes on. */
export const ChatView = ({ sessionKey, row }: { readonly sessionKey: string; readonly row: SessionRow | null }) => {
  const store = useMemo(() => new ChatStore(sessionKey), [sessionKey]);
  useEffect(() => () => store.close(), [store]);
  return (
    <div class="chat">
      {store.problem.value !== null && <Problem text={store.problem.value} />}
      {store.waiting.value !== null && (
        <p class="waiting" role="status">
          The gateway is away: {store.waiting.value}. It goes on where it was.
        </p>
      )}
      <Messages store={store} />
      <Composer store={store} row={row} />
    </div>
  );
};
