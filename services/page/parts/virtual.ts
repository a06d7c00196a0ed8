import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** How far a key moves the choice in a list, in rows; without end for the first and the last. */
export const rowMoves: Readonly<Record<string, number>> = {
  ...{ ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10 },
  ...{ Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY },
};

interface VirtualOptions {
  readonly count: number;
  /** The height of every row, px. */
  readonly rowHeight: number;
}

/** How far rows are drawn before and after those in sight, px, so that a quick finger meets no gap. Each costs as much as one in sight. */
const aheadPixels = 360;

/** A list of which only the rows in sight are in the document. `scroller` is the element that scrolls. */
export const useVirtual = ({ count, rowHeight }: VirtualOptions) => {
  const scroller = useRef<HTMLDivElement>(null);
  const [{ first, end }, see] = useState({ first: 0, end: 0 });
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current === null) return undefined;
    const look = (): void => {
      const [top, bottom] = [current.scrollTop, current.scrollTop + current.clientHeight];
      const now = { first: Math.floor(top / rowHeight), end: Math.ceil(bottom / rowHeight) };
      see((before) => (before.first === now.first && before.end === now.end ? before : now));
    };
    const resized = new ResizeObserver(look);
    resized.observe(current);
    current.addEventListener('scroll', look, { passive: true });
    return () => {
      resized.disconnect();
      current.removeEventListener('scroll', look);
    };
  }, [rowHeight]);
  const aheadRows = Math.ceil(aheadPixels / rowHeight);
  const from = Math.max(0, Math.min(first, count) - aheadRows);
  const length = Math.max(0, Math.min(count, end + aheadRows) - from);
  return {
    scroller,
    rows: Array.from({ length }, (_, offset) => ({ index: from + offset, start: (from + offset) * rowHeight })),
    height: count * rowHeight,
    /** Scrolls as little as is needed for a row to be in sight. */
    show: (index: number): void => {
      const { current } = scroller;
      if (current === null) return;
      const highest = (index + 1) * rowHeight - current.clientHeight;
      current.scrollTop = Math.max(highest, Math.min(current.scrollTop, index * rowHeight));
    },
  };
};
