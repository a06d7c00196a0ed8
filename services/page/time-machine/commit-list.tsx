import { useEffect } from 'preact/hooks';
import { summaryOf } from '../../../shared/domain/projections/event-summary.ts';
import { oneLine, typeWords } from '../parts/one-line.ts';
import { Time } from '../parts/time.tsx';
import { useVirtual } from '../parts/virtual.ts';
import type { Past } from './past.ts';

const rowHeight = 44;

/** All commits; the chosen one is the slider's. */
export const CommitList = ({ past }: { readonly past: Past }) => {
  const count = past.count.value;
  const { scroller, rows, height, show } = useVirtual({ count, rowHeight });
  const place = past.place.value;
  useEffect(() => {
    if (place > 0) show(place - 1);
  }, [place]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="commits" ref={scroller} tabIndex={0} aria-label="Commits">
      <ol style={{ height: `${height}px` }}>
        {rows.map(({ index, start }) => {
          const commit = past.timeline.commits[index];
          const [first] = commit?.events ?? [];
          if (!commit || !first) return null;
          const isChosen = index + 1 === place;
          const others = commit.events.length - 1;
          return (
            <li key={commit.seq} style={{ transform: `translateY(${start}px)` }}>
              <button
                type="button"
                class={`commit ${isChosen ? 'commit-chosen' : ''}`}
                aria-current={isChosen ? 'step' : undefined}
                onClick={() => past.goTo(index + 1)}
              >
                <span class="commit-number">{index + 1}</span>
                <span class="commit-type">
                  {typeWords(first.type)}
                  {others > 0 && <small> +{others}</small>}
                </span>
                <span class="commit-text">{summaryOf(first, oneLine)}</span>
                <Time at={commit.at} exact />
              </button>
            </li>
          );
        })}
      </ol>
    </section>
  );
};
