import { shownAddress } from './route.ts';

/** Puts the focus on an element, and says whether it took it. */
export const focus = (selector: string): boolean => {
  const found = document.querySelector<HTMLElement>(selector);
  found?.focus();
  return found !== null && document.activeElement === found;
};

/**
 * What is focused may have to be drawn first: it is tried in each second frame, so many times. Whoever has gone elsewhere is there only a
 * moment later: what is still shown until then would take the focus along.
 */
export const trySoon = (attempt: () => boolean, times = 100): void => {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if ((location.hash !== shownAddress() || !attempt()) && times > 1) trySoon(attempt, times - 1);
    }),
  );
};

/** Puts the focus on an element as soon as it is there. */
export const focusSoon = (selector: string): void => trySoon(() => focus(selector));
