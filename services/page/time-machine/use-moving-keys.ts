import { useEffect } from 'preact/hooks';
import { isAsked, isTyping } from '../base/typing.ts';
import type { Past } from '../past/past.ts';

/** How far a key moves, in commits. */
const moves: Readonly<Record<string, number>> = {
  ...{ ArrowLeft: -1, ArrowRight: 1 },
  ...{ Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY },
};

/** Moves through the past by keys wherever the focus is, but for fields, and for the slider and lists with such keys of their own. */
export const useMovingKeys = (past: Past, isOn: boolean): void => {
  useEffect(() => {
    if (!isOn) return undefined;
    const leaving = new AbortController();
    const move = (pressed: KeyboardEvent): void => {
      const { key, target } = pressed;
      const by = moves[key];
      if (by === undefined || pressed.defaultPrevented || isAsked() || isTyping(target)) return;
      if (pressed.ctrlKey || pressed.metaKey || pressed.altKey || pressed.shiftKey) return;
      if (target instanceof Element && target.matches('[type=range]')) return;
      pressed.preventDefault();
      past.goTo(past.place.peek() + by);
    };
    addEventListener('keydown', move, { signal: leaving.signal });
    return () => leaving.abort();
  }, [past, isOn]);
};
