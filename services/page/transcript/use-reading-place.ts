import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface ReadingPlace {
  /** The row that the address names. */
  readonly place: number | null;
  /** The height of every row, px. */
  readonly rowHeight: number;
  readonly count: number;
  /** What comes now is new. */
  readonly isRead: boolean;
}

/**
 * Brings the row of the address into sight, and what is new into sight where the reader is at the end; elsewhere the reader's place
 * stays. Returns what is called when somebody scrolls.
 */
export const useReadingPlace = (
  scroller: RefObject<HTMLElement | null>,
  { place, rowHeight, count, isRead }: ReadingPlace,
): (() => void) => {
  const isAtEnd = useRef(false);
  const note = (): void => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = scroller.current ?? {};
    isAtEnd.current = isRead && scrollHeight - scrollTop - clientHeight < rowHeight;
  };
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current === null || place === null) return;
    const [top, least] = [place * rowHeight, current.scrollTop];
    const isInSight = top >= least && top + rowHeight <= least + current.clientHeight;
    if (!isInSight) current.scrollTop = top - (current.clientHeight - rowHeight) / 2;
  }, [place]);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current && isAtEnd.current) current.scrollTop = current.scrollHeight;
    note();
  }, [count, isRead]);
  return note;
};
