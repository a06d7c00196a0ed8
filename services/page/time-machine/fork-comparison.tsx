import { useEffect, useMemo, useRef } from 'preact/hooks';
import { counted } from '../../../shared/kit/text/counted.ts';
import { fieldWords } from '../../../shared/kit/text/field-words.ts';
import { now } from '../base/now.ts';
import { changeQuery } from '../base/route.ts';
import { mayWrite } from '../base/signed-in.ts';
import { Icon } from '../parts/icon.tsx';
import { exactTime } from '../parts/time.tsx';
import type { Past } from '../past/past.ts';
import { type Said, saidAmong } from '../past/said.ts';
import { errorsAmong, type Fork, type RecordedError } from '../past/timeline.ts';
import {
  branchCounts,
  type Change,
  changesBetween,
  isBookkeeping,
  isCount,
  isSetting,
  plainPath,
  skillChanges,
} from './differences.ts';
import { SaidLines } from './said-lines.tsx';
import { valueWords } from './value-words.ts';

interface BranchProps {
  readonly title: string;
  readonly said: readonly Said[];
  readonly other: readonly Said[];
  readonly errors: readonly RecordedError[];
  /** Messages that the agent knew at its end, those before the fork among them. */
  readonly known: number;
  go(line: Said): void;
}
const Branch = ({ title, said, other, errors, known, go }: BranchProps) => (
  <section class="branch" aria-label={title}>
    <h3>{title}</h3>
    <p class="hint">At its end the agent knew {counted(known, 'message')} in all.</p>
    {said.length === 0 && errors.length === 0 && <p class="hint">Nothing was said.</p>}
    <SaidLines
      lines={said}
      errors={errors}
      go={go}
      differs={({ role, text }, at) => other[at]?.role !== role || other[at]?.text !== text}
    />
  </section>
);

/** What a fork is called, and a reset that begins again from the first message. */
const nameOf = ({ base }: Fork): string => (base === 0 ? 'New beginning' : 'Fork');

interface DifferencesProps {
  readonly changes: readonly Change[];
  readonly caption: string;
  readonly fork: Fork;
}
const Differences = ({ changes, caption, fork }: DifferencesProps) => (
  <table class="branch-state">
    <caption>{caption}</caption>
    <thead>
      <tr>
        <th scope="col">Field</th>
        <th scope="col">Left behind</th>
        <th scope="col">{nameOf(fork)}</th>
      </tr>
    </thead>
    <tbody>
      {changes.map(({ path, before, after }) => (
        <tr key={path}>
          <th scope="row" title={path}>
            {plainPath(path)}
          </th>
          <td>{valueWords(before)}</td>
          <td>{valueWords(after)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const settingNames = (changes: readonly Change[]): string =>
  [...new Set(changes.map(({ path }) => fieldWords(path.split('.')[2] ?? path)))].join(', ');

interface SettingsProps {
  readonly fork: Fork;
  readonly changes: readonly Change[];
  readonly skills: ReturnType<typeof skillChanges>;
}
/** How the two are set up otherwise: a line each, and what it is on demand. */
const SettingsDifferences = ({ fork, changes, skills }: SettingsProps) => (
  <>
    {changes.length > 0 && (
      <details class="branch-settings">
        <summary>Settings changed: {settingNames(changes)}</summary>
        <Differences changes={changes} caption="How they are set at their ends." fork={fork} />
      </details>
    )}
    {skills && (
      <details class="branch-settings">
        <summary>Skills changed: {skills.summary}</summary>
        {skills.details.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </details>
    )}
  </>
);

const Two = ({ fork, past }: { readonly fork: Fork; readonly past: Past }) => {
  const { place, ancestor, end } = fork;
  const { timeline } = past;
  const [left, right, changes, skills] = useMemo(() => {
    const [before, after] = [timeline.stateAfter(place - 1), timeline.stateAfter(end)];
    const branch = (commits: Fork['left'], to: number) => ({
      said: saidAmong(commits),
      errors: errorsAmong(commits),
      known: timeline.knownAt(to).length,
    });
    const differences = changesBetween(before, after).filter((change) => !isBookkeeping(change) && !isCount(change));
    return [
      branch(fork.left, place - 1),
      branch(fork.kept, end),
      [...branchCounts(timeline, fork), ...differences],
      skillChanges(before.context, after.context),
    ] as const;
  }, [timeline, fork]);
  const facts = changes.filter((change) => !isSetting(change));
  const set = changes.filter(({ path }) => path.startsWith('context.settings'));
  const leave = (to: number): void => {
    past.goTo(to);
    changeQuery({ compare: '' });
  };
  const lastLeft = fork.left.at(-1);
  const go = ({ seq }: Said): void => leave(timeline.countAt(seq));
  return (
    <>
      {ancestor === 0 ? (
        <p class="hint">They have no commit in common: the agent knew nothing of the one in the other.</p>
      ) : (
        <p class="hint">
          Both go on from{' '}
          <button type="button" class="button button-quiet" onClick={() => leave(ancestor)}>
            commit {timeline.numberAt(ancestor)}
          </button>
        </p>
      )}
      {past.isLive && mayWrite() && lastLeft !== undefined && (
        <p class="hint">
          To go back to what was left behind, fork from{' '}
          <button type="button" class="button button-quiet" onClick={() => leave(timeline.countAt(lastLeft.seq))}>
            commit {lastLeft.rev}
          </button>
          , its last one.
        </p>
      )}
      <div class="branches">
        <Branch title="Left behind" {...left} other={right.said} go={go} />
        <Branch title={nameOf(fork)} {...right} other={left.said} go={go} />
      </div>
      {facts.length > 0 && <Differences changes={facts} caption="Where their states differ at their ends." fork={fork} />}
      <SettingsDifferences fork={fork} changes={set} skills={skills} />
    </>
  );
};

/** Leads to the comparison, where a session has forks: of the fork of this moment, else of the newest. */
export const CompareButton = ({ past }: { readonly past: Past }) => {
  const count = past.count.value;
  const forks = useMemo(() => past.timeline.forks(), [past, count]);
  const here = forks.find(({ place }) => place === past.place.value);
  const fork = here ?? forks.at(-1);
  if (fork === undefined || !past.isRead.value) return null;
  const seq = past.timeline.commits[fork.place - 1]?.seq;
  return (
    <button type="button" class={`button ${here ? '' : 'button-quiet'}`} onClick={() => changeQuery({ compare: `${seq}` })}>
      {here ? 'Compare with what was left behind' : 'Compare forks'}
    </button>
  );
};

/** The forks of a session beside what each left behind, from their common ancestor on, with the differences marked (B21). */
export const ForkComparison = ({ past, seq }: { readonly past: Past; readonly seq: number }) => {
  const count = past.count.value;
  const forks = useMemo(() => past.timeline.forks(), [past, count]);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const fork = forks.find(({ place }) => past.timeline.commits[place - 1]?.seq === seq) ?? forks.at(-1);
  return (
    <section class="comparison" aria-labelledby="moment-forks">
      <button type="button" class="button button-quiet" onClick={() => changeQuery({ compare: '' })}>
        <Icon name="back" /> Back to the commit
      </button>
      <h2 id="moment-forks" ref={title} tabIndex={-1}>
        The {fork?.base === 0 ? 'new beginning' : 'fork'} and what it left behind
      </h2>
      {forks.length > 1 && (
        <label class="select">
          <span>Which fork</span>
          <select value={`${seq}`} onChange={(event) => changeQuery({ compare: event.currentTarget.value })}>
            {forks.map(({ place, base }) => (
              <option key={place} value={`${past.timeline.commits[place - 1]?.seq}`}>
                {base === 0 ? 'new beginning' : `from commit ${past.timeline.numberAt(base)}`}, as commit{' '}
                {past.timeline.numberAt(place)}, {exactTime(past.timeline.commits[place - 1]?.at ?? 0, now.value)}
              </option>
            ))}
          </select>
        </label>
      )}
      {fork === undefined ? <p class="hint">This session has no fork.</p> : <Two fork={fork} past={past} />}
    </section>
  );
};
