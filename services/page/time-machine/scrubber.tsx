import { type Signal, signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { Icon, type IconName } from '../parts/icon.tsx';
import { CommitNumber } from '../past/commit-number.tsx';
import { type Landmark, landmarks } from '../past/landmark.ts';
import type { Past } from '../past/past.ts';
import { ForkButton } from './fork-button.tsx';

/** How many commits a second it plays. */
const speeds = [1, 3, 10, 30] as const;
/** For all sessions of this tab. */
const speed = signal<number>(3);

const landmarkWords: Readonly<Record<Landmark, string>> = {
  error: 'Error',
  checkpoint: 'Failed checkpoint',
  reset: 'Reset',
  fork: 'Fork',
  approval: 'Approval',
};

const Step = ({
  icon,
  words,
  to,
  past,
}: {
  readonly icon: IconName;
  readonly words: string;
  readonly to: number;
  readonly past: Past;
}) => (
  <button type="button" class="button button-round" aria-label={words} title={words} onClick={() => past.goTo(to)}>
    <Icon name={icon} />
  </button>
);

const Play = ({ past }: { readonly past: Past }) => {
  const isPlaying = useSignal(false);
  useEffect(() => {
    if (!isPlaying.value) return undefined;
    const timer = setInterval(() => {
      past.goTo(past.place.value + 1);
      if (past.place.value >= past.count.value) isPlaying.value = false;
    }, 1_000 / speed.value);
    return () => clearInterval(timer);
  }, [isPlaying.value, speed.value, past]);
  const toggle = (): void => {
    if (!isPlaying.value && past.place.value >= past.count.value) past.goTo(0);
    isPlaying.value = !isPlaying.value;
  };
  const words = isPlaying.value ? 'Pause' : 'Play';
  return (
    <>
      <button type="button" class="button button-round" aria-label={words} title={words} onClick={toggle}>
        <Icon name={isPlaying.value ? 'pause' : 'play'} />
      </button>
      <select
        class="play-speed"
        aria-label="Speed, in commits a second"
        title="How many commits a second it plays"
        value={speed.value}
        onChange={(event) => {
          speed.value = Number(event.currentTarget.value);
        }}
      >
        {speeds.map((each) => (
          <option key={each} value={each}>
            {each}/s
          </option>
        ))}
      </select>
    </>
  );
};

const Jumps = ({ past }: { readonly past: Past }) => (
  <>
    {landmarks.map((kind) => {
      const [before, after] = ([-1, 1] as const).map((way) => past.timeline.markFrom(kind, past.place.value, way));
      const all = past.marksOf(kind).length;
      // Few sessions have any.
      if ((kind === 'fork' || kind === 'checkpoint') && all === 0) return null;
      const jump = (to: number | null | undefined, icon: IconName, words: string) => (
        <button
          type="button"
          class="button button-quiet jump"
          aria-disabled={to == null}
          aria-label={words}
          title={words}
          onClick={() => to != null && past.goTo(to)}
        >
          <Icon name={icon} />
        </button>
      );
      return (
        <span key={kind} class={`jump-group jump-${kind} ${all === 0 ? 'jump-none' : ''}`}>
          {jump(before, 'previous', `Previous ${landmarkWords[kind].toLowerCase()}`)}
          <span>
            {landmarkWords[kind]} <b>{all}</b>
          </span>
          {jump(after, 'next', `Next ${landmarkWords[kind].toLowerCase()}`)}
        </span>
      );
    })}
  </>
);

/** Landmarks that would be drawn over each other are one. */
const markPlaces = 500;

const Marks = ({ past }: { readonly past: Past }) => {
  const count = past.count.value;
  const isRead = past.isRead.value;
  return useMemo(() => {
    const placesOf = (kind: Landmark) =>
      new Set(past.marksOf(kind).map((mark) => Math.round((mark / Math.max(1, count)) * markPlaces)));
    return (
      <svg class="marks" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">
        {isRead &&
          landmarks.flatMap((kind) =>
            [...placesOf(kind)].map((at) => (
              <rect key={`${kind}${at}`} class={`mark-${kind}`} x={(at / markPlaces) * 996} y="0" width="4" height="8" />
            )),
          )}
      </svg>
    );
  }, [past, count, isRead]);
};

interface ScrubberProps {
  readonly past: Past;
  /** A small screen shows all commits in place of the moment. */
  readonly isListed: Signal<boolean>;
}
/** Moves through the past: with the slider and its arrow keys, step by step, by number, from landmark to landmark, or by playing. */
export const Scrubber = ({ past, isListed }: ScrubberProps) => {
  const [place, count] = [past.place.value, past.count.value];
  const { timeline } = past;
  const number = timeline.numberAt(place);
  const goThere = (typed: number | null): number => {
    if (typed !== null) past.goTo(timeline.placeOf(typed));
    return timeline.numberAt(past.place.value);
  };
  const areJumpsShown = useSignal(false);
  const isLive = past.chosen.value === null && past.isRead.value;
  return (
    <div class="scrubber">
      <div class="scrubber-track">
        <input
          type="range"
          aria-label="Commit"
          min={0}
          max={count}
          value={place}
          aria-valuetext={`commit ${number} of ${timeline.numberAt(count)}`}
          onInput={(event) => past.goTo(Number(event.currentTarget.value))}
        />
        <Marks past={past} />
      </div>
      <div class="scrubber-steps">
        <Step icon="first" words="To the beginning" to={0} past={past} />
        <Step icon="previous" words="One commit back" to={place - 1} past={past} />
        <Play past={past} />
        <Step icon="next" words="One commit on" to={place + 1} past={past} />
        <Step icon="last" words="To the newest" to={count} past={past} />
        <CommitNumber past={past} words="Commit number" isUnseen number={number} choose={goThere} />
        <button
          type="button"
          class="button button-quiet list-toggle"
          onClick={() => {
            isListed.value = !isListed.value;
          }}
        >
          {isListed.value ? 'Back to the commit' : 'All commits'}
        </button>
        <span class={`live ${isLive ? 'live-on' : ''}`} title={place < count ? 'The session has gone on since' : undefined}>
          {isLive
            ? past.isLive
              ? 'Live'
              : 'End of the file'
            : past.isRead.value
              ? place === count
                ? 'Newest'
                : 'Earlier commit'
              : 'Reading…'}
        </span>
      </div>
      <div class={`jumps ${areJumpsShown.value ? 'jumps-shown' : ''}`}>
        {landmarks.some((kind) => past.marksOf(kind).length > 0) && (
          <button
            type="button"
            class="button button-quiet jumps-toggle"
            aria-expanded={areJumpsShown.value}
            onClick={() => {
              areJumpsShown.value = !areJumpsShown.value;
            }}
          >
            Jump to
          </button>
        )}
        <Jumps past={past} />
        {/* Until there is a moment, nothing can be forked from. */}
        {past.isLive && <ForkButton past={past} place={past.hasMoment.value ? place : 0} />}
      </div>
    </div>
  );
};
