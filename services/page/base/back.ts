import { useLayoutEffect, useRef } from 'preact/hooks';
import { shownAddress } from './route.ts';

/**
 * What the browser's Back closes, such as a dialog, before it leaves the view. While it is open the history has a step for it, with the same
 * address. The step stays when it is closed otherwise: to take it away would cross the way of whoever goes on at once. What is opened next
 * uses it, and Back passes over it.
 */

/** What the history keeps with an entry: whose step it is, and which step comes after it. */
interface Steps {
  readonly step?: number;
  readonly next?: number;
}

/** How to close what is open, by its step. */
const open = new Map<number, () => void>();
let here: Steps = {};
const read = (): void => {
  here = (history.state as Steps | null) ?? {};
};

/** Follows the history from now on. */
export const followBack = (): void => {
  read();
  addEventListener('hashchange', read);
  addEventListener('popstate', () => {
    const { step } = here;
    read();
    if (step === undefined || here.next !== step) return;
    const close = open.get(step);
    if (close === undefined) return history.back();
    // What was changed in the address meanwhile, as by a filter, stays.
    history.replaceState(history.state, '', shownAddress());
    close();
  });
};

/** The step of what is opened now. */
const takeStep = (): number => {
  if (here.step !== undefined && !open.has(here.step)) return here.step;
  const step = Date.now();
  history.replaceState({ ...here, next: step }, '');
  history.pushState({ step }, '');
  read();
  return step;
};

/** As long as the component is there, Back calls `close` and stays in the view. */
export const useBack = (close: () => void): void => {
  const newest = useRef(close);
  newest.current = close;
  useLayoutEffect(() => {
    const step = takeStep();
    open.set(step, () => newest.current());
    return () => void open.delete(step);
  }, []);
};
