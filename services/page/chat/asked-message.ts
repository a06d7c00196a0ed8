import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { route } from '../base/route.ts';
import type { ChatStore } from './chat-store.ts';

/** Whether the address asks for the message of this event, as a search that found it does. */
export const isAskedFor = (event: string | undefined): boolean => event !== undefined && route.value.query.said === event;

/** Brings the message that the address asks for into sight, once, away from the end; until it is there, what is earlier is read. */
export const useAskedMessage = (store: ChatStore, scroller: RefObject<HTMLElement | null>, isAtEnd: RefObject<boolean>): void => {
  const { said } = route.value.query;
  const shown = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    if (said === shown.current || !store.isRead.value) return;
    // It is marked only once it is drawn again.
    const message = scroller.current?.querySelector(`.said[data-event="${CSS.escape(said ?? '')}"]`);
    if (message) {
      shown.current = said;
      isAtEnd.current = false;
      message.closest('details')?.setAttribute('open', '');
      message.scrollIntoView({ block: 'center' });
    } else if (said !== undefined && store.earlier.value !== null) void store.readEarlier();
  });
};
