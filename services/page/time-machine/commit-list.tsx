import { useEffect, useRef } from 'preact/hooks';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { eventWords } from '../parts/event-words.ts';
import { ErrorMark } from '../parts/icon.tsx';
import { eventText } from '../parts/person.ts';
import { Time } from '../parts/time.tsx';
import { rowMoves, useVirtual } from '../parts/virtual.ts';
import { landmarkOf } from '../past/landmark.ts';
import type { Past } from '../past/past.ts';
import { headOf } from '../past/timeline.ts';

/** As in the style sheet. */
const rowHeight = 44;

interface CommitListProps {
  readonly commits: readonly RecordedCommit[];
  readonly count: number;
  /** The place of the chosen one: 1 is the first. */
  readonly place: number;
  /** Whether a fork left the commit of a sequence behind. Default: that is not known of any. */
  isLeft?(seq: number): boolean;
  /** Goes to the next one by a key, which moves on in the list. */
  go(place: number): void;
  /** Goes to one that somebody wants to look at. */
  choose(place: number): void;
}

/** Commits; the chosen one is the slider's. One stop of the Tab key, in which the arrow keys move. */
export const CommitList = ({ commits, count, place, isLeft = () => false, go, choose }: CommitListProps) => {
  const { scroller, rows, height, show } = useVirtual({ count, rowHeight });
  useEffect(() => {
    if (place > 0) show(place - 1);
  }, [place]);
  /** The focus goes to the chosen row as soon as it is drawn. */
  const isMoving = useRef(false);
  useEffect(() => {
    const row = isMoving.current ? scroller.current?.querySelector<HTMLElement>('[aria-current]') : null;
    row?.focus({ preventScroll: true });
    if (row) isMoving.current = false;
  });
  const move = (pressed: KeyboardEvent): void => {
    const by = rowMoves[pressed.key];
    if (by === undefined) return;
    pressed.preventDefault();
    isMoving.current = true;
    go(Math.max(1, Math.min(count, place + by)));
  };
  const stop = rows.some(({ index }) => index === place - 1) ? place - 1 : rows[0]?.index;
  return (
    <section class="commits" ref={scroller} aria-label="Commits" onKeyDown={move}>
      <ol style={{ height: `${height}px` }}>
        {rows.map(({ index, start }) => {
          const commit = commits[index];
          const head = commit && headOf(commit);
          if (!commit || !head) return null;
          const isChosen = index + 1 === place;
          const others = commit.events.filter((event) => event !== head);
          return (
            <li key={commit.seq} style={{ transform: `translateY(${start}px)` }}>
              <button
                type="button"
                tabIndex={index === stop ? 0 : -1}
                class={`commit ${isChosen ? 'commit-chosen' : ''} commit-${landmarkOf(head) ?? 'plain'} ${isLeft(commit.seq) ? 'commit-left' : ''}`}
                aria-current={isChosen ? 'step' : undefined}
                onClick={() => choose(index + 1)}
              >
                <span class="commit-number">{commit.rev}</span>
                <span class="commit-type">
                  {landmarkOf(head) === 'error' && <ErrorMark />}
                  {eventWords(head)}
                </span>
                <span class="commit-text">
                  {isLeft(commit.seq) && <b>Left behind </b>}
                  {eventText(head, commit.actor, commit.events)}
                </span>
                <Time at={commit.at} exact />
                {others.length > 0 && (
                  <small class="commit-more" title={`Also in this commit: ${others.map(eventWords).join(', ')}`}>
                    {counted(others.length, 'more event')}
                  </small>
                )}
              </button>
            </li>
          );
        })}
      </ol>
    </section>
  );
};

interface PastCommitsProps {
  readonly past: Past;
  /** One was chosen. */
  chosen(): void;
}
/** All commits of a past, as far as they are read. */
export const PastCommits = ({ past, chosen }: PastCommitsProps) => (
  <CommitList
    commits={past.timeline.commits}
    count={past.count.value}
    place={past.place.value}
    isLeft={(seq) => past.timeline.isLeft(seq)}
    go={(place) => past.goTo(place)}
    choose={(place) => {
      past.goTo(place);
      chosen();
    }}
  />
);
