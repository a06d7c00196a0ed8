import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Brings a question that is taller than the view into sight from its top, once, away from the end: nobody should find the buttons there
 * without the command that they allow.
 */
export const useAskedApproval = (scroller: RefObject<HTMLElement | null>, isAtEnd: RefObject<boolean>): void => {
  const shown = useRef<Element | null>(null);
  useLayoutEffect(() => {
    const { current } = scroller;
    const card = [...(current?.querySelectorAll('.approval:not(.approval-over)') ?? [])].at(-1);
    if (!current || !card || card === shown.current) return;
    shown.current = card;
    const below =
      current.getBoundingClientRect().top + current.scrollHeight - current.scrollTop - card.getBoundingClientRect().top;
    if (!isAtEnd.current || below <= current.clientHeight) return;
    isAtEnd.current = false;
    current.scrollTop = current.scrollHeight - below;
  });
};
