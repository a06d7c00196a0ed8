import { signal } from '@preact/signals';
import type { SessionRow } from '../../../shared/client/main.ts';

/** The session that somebody reads here: what comes in it is seen. */
export const readHere = signal<string | null>(null);

/** That session with as many messages as it had when it was marked as unread: it is shown so until its next one. */
export const markedUnread = signal<Pick<SessionRow, 'key' | 'messageCount'> | null>(null);

/** Whether a list shows a session as unread: not what comes while somebody reads it, although the gateway may not know that yet. */
export const isShownUnread = ({ key, messageCount, unread }: SessionRow): boolean => {
  const marked = markedUnread.value;
  return unread && (readHere.value !== key || (marked?.key === key && messageCount <= marked.messageCount));
};

/** What is asked of a document: whether its tab is in sight, and when that changes. */
export interface Sight extends Pick<EventTarget, 'addEventListener' | 'removeEventListener'> {
  readonly visibilityState: 'visible' | 'hidden';
}

/** Does something once, when the tab has been in sight for so long without a break. Returns what calls it off. */
export const onceInSight = (sight: Sight, ms: number, work: () => void): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => {
    clearTimeout(timer);
    sight.removeEventListener('visibilitychange', look);
  };
  const look = (): void => {
    clearTimeout(timer);
    if (sight.visibilityState !== 'visible') return;
    timer = setTimeout(() => {
      end();
      work();
    }, ms);
  };
  sight.addEventListener('visibilitychange', look);
  look();
  return end;
};
