import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks';

interface VirtualOptions {
  readonly count: number;
  /** The height of every row, px. */
  readonly rowHeight: number;
  readonly overscan?: number;
}

/** A list of which only the rows in sight are in the document. `scroller` is the element that scrolls. */
export const useVirtual = ({ count, rowHeight, overscan = 8 }: VirtualOptions) => {
  const scroller = useRef<HTMLDivElement>(null);
  const [, again] = useReducer((times: number) => times + 1, 0);
  const held = useRef<Virtualizer<HTMLDivElement, HTMLElement> | null>(null);
  const options = {
    ...{ count, overscan, observeElementRect, observeElementOffset, scrollToFn: elementScroll },
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    onChange: () => again(undefined as never),
  };
  held.current ??= new Virtualizer<HTMLDivElement, HTMLElement>(options);
  const virtual = held.current;
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  return { scroller, virtual, rows: virtual.getVirtualItems(), height: virtual.getTotalSize() };
};
