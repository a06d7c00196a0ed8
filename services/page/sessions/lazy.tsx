import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem } from '../parts/empty.tsx';

type View = ComponentType<{ readonly sessionKey: string }>;

/** A view that is loaded when it is first opened. */
export const lazy = (load: () => Promise<{ readonly default: View }>): View => {
  let loaded: View | null = null;
  return ({ sessionKey }) => {
    const [view, setView] = useState<{ readonly View: View } | null>(loaded && { View: loaded });
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
    return view === null ? <p class="loading">Loading…</p> : <view.View sessionKey={sessionKey} />;
  };
};
