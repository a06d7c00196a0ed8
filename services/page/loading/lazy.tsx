import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem } from '../parts/empty.tsx';

/** A view that is loaded when it is first opened. */
export const lazy = <Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
): ComponentType<Props> => {
  let loaded: ComponentType<Props> | null = null;
  return (props) => {
    const [view, setView] = useState<{ readonly View: ComponentType<Props> } | null>(loaded && { View: loaded });
    const [hasFailed, setFailed] = useState(false);
    useEffect(() => {
      load().then(
        ({ default: View }) => {
          loaded = View;
          setView({ View });
        },
        () => setFailed(true),
      );
    }, []);
    if (view === null && hasFailed)
      return (
        <Problem
          text="This part of the page cannot be loaded. The gateway may have a newer one."
          again={() => location.reload()}
        />
      );
    return view === null ? <p class="loading">Loading…</p> : <view.View {...props} />;
  };
};
