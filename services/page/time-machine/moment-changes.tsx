import { useMemo, useRef } from 'preact/hooks';
import type { ShownState } from '../../../shared/domain/session/fold/evolve.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { changeQuery, route } from '../base/route.ts';
import { SessionLink } from '../finding/session-link.tsx';
import { CommitNumber } from '../past/commit-number.tsx';
import type { Past } from '../past/past.ts';
import { toldChanges } from '../past/told-changes.ts';
import { type Change, changesBetween, isBookkeeping, plainPath, promptChanges } from './differences.ts';
import { ChangedMemories } from './moment-memories.tsx';
import { sessionIn, shortId, valueWords } from './value-words.ts';

interface ValueProps {
  readonly path: string;
  readonly value: unknown;
  readonly isLive: boolean;
}
/** A value in words: a session leads there, and of an id its beginning tells it from others. */
const Value = ({ path, value, isLive }: ValueProps) => {
  const session = sessionIn(value);
  if (session)
    return (
      <>
        {isLive ? <SessionLink sessionKey={session.key} /> : session.key}
        {session.rest !== null && `, ${session.rest}`}
      </>
    );
  const short = shortId(path, value);
  return short === null ? valueWords(value) : <span title={`${value}`}>{short}</span>;
};

interface ChangesProps {
  readonly changes: readonly Change[];
  /** A gateway has what values are of. */
  readonly isLive: boolean;
}
const Changes = ({ changes, isLive }: ChangesProps) => (
  <dl class="changes">
    {changes.map(({ path, before, after }) => (
      <div key={path}>
        <dt title={path}>{plainPath(path)}</dt>
        <dd>
          <del>
            <Value path={path} value={before} isLive={isLive} />
          </del>{' '}
          <ins>
            <Value path={path} value={after} isLive={isLive} />
          </ins>
        </dd>
      </div>
    ))}
  </dl>
);

interface OtherProps {
  readonly past: Past;
  /** The place of the other moment. */
  readonly other: number;
  readonly isChosen: boolean;
}
/** Which commit it is compared with. Empty: the one before. */
const Other = ({ past, other, isChosen }: OtherProps) => {
  const { timeline } = past;
  const field = useRef<HTMLInputElement>(null);
  const choose = (number: number | undefined): void => changeQuery({ with: number === undefined ? '' : `${number}` });
  return (
    <div class="compare-with">
      <CommitNumber
        past={past}
        words="Compare with commit"
        number={timeline.numberAt(other)}
        field={field}
        choose={(typed) => {
          const wanted = typed === null ? undefined : timeline.numberAt(timeline.placeOf(typed));
          choose(wanted);
          return wanted ?? timeline.numberAt(other);
        }}
      />
      {isChosen && (
        <button
          type="button"
          class="button button-quiet"
          onClick={() => {
            choose(undefined);
            field.current?.focus();
          }}
        >
          With the one before
        </button>
      )}
    </div>
  );
};

interface Props {
  readonly past: Past;
  /** The states before and after the commit of the moment. */
  readonly before: ShownState;
  readonly state: ShownState;
}

/** What differs between the moment and the one before, or the one that the address names, the earlier first. */
export const MomentChanges = ({ past, before, state }: Props) => {
  const { timeline } = past;
  const place = past.place.value;
  const { with: asked = '' } = route.value.query;
  const isChosen = /^\d+$/.test(asked);
  // The other moment may be read later than this one.
  if (isChosen) void past.count.value;
  const other = isChosen ? timeline.placeOf(Number(asked)) : Math.max(0, place - 1);
  const otherState = useMemo(() => (isChosen ? timeline.stateAfter(other) : before), [timeline, isChosen, other, before]);
  const [first, last] = [Math.min(other, place), Math.max(other, place)];
  const [old, now] = other > place ? [state, otherState] : [otherState, state];
  const [facts, books] = useMemo(() => {
    const changes = changesBetween(old, now);
    const said = [...toldChanges(timeline, first, last), ...promptChanges(old.context, now.context)];
    return [[...said, ...changes.filter((change) => !isBookkeeping(change))], changes.filter(isBookkeeping)] as const;
  }, [state, otherState]);
  const nothing =
    place === 0 && !isChosen
      ? 'There is no commit before the first.'
      : other === place
        ? 'It is this commit: nothing differs.'
        : 'Nothing of its state but its place in the log: what happened is above.';
  return (
    <section class="card" aria-labelledby="moment-changes">
      <h2 id="moment-changes">
        {isChosen
          ? `What changed from commit ${timeline.numberAt(first)} to commit ${timeline.numberAt(last)}`
          : 'What it changed'}
      </h2>
      <Other past={past} other={other} isChosen={isChosen} />
      {facts.length === 0 ? <p class="hint">{nothing}</p> : <Changes changes={facts} isLive={past.isLive} />}
      <ChangedMemories before={old} after={now} isLive={past.isLive} />
      {books.length > 0 && (
        <details class="books">
          <summary title="Its place in the log, digests and ids, which the runtime keeps for itself">
            {counted(books.length, 'internal field')} changed
          </summary>
          {past.isLive && (
            <p class="hint">
              Commit {timeline.numberAt(place)} has the log sequence {timeline.commits[place - 1]?.seq ?? 0}, which its address
              names.
            </p>
          )}
          <Changes changes={books} isLive={past.isLive} />
        </details>
      )}
    </section>
  );
};
