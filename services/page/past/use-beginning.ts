import { useEffect, useRef } from 'preact/hooks';

/** Shows another moment from its beginning. Returns what is called when somebody scrolls the element that shows it. */
export const useBeginning = (place: number): ((scrolled: { readonly currentTarget: HTMLElement }) => void) => {
  // To ask the element whether it is scrolled would make the browser lay out the page, at every moment.
  const scrolled = useRef<HTMLElement | null>(null);
  useEffect(() => {
    // What has just been scrolled, as by the focus, is told before the next frame.
    const frame = requestAnimationFrame(() => scrolled.current?.scrollTo(0, 0));
    return () => cancelAnimationFrame(frame);
  }, [place]);
  return ({ currentTarget }) => {
    scrolled.current = currentTarget.scrollTop > 0 ? currentTarget : null;
  };
};
