import { signal } from '@preact/signals';

/** The session that somebody reads here: what comes in it is seen. None while it is marked as unread, until its next message. */
export const readHere = signal<string | null>(null);

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
