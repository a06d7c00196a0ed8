import { useMemo, useState } from 'preact/hooks';
import { oneLine } from '../parts/one-line.ts';
import { type Change, changesBetween, isBookkeeping } from './differences.ts';
import { shortValue } from './json-value.tsx';
import type { Past } from './past.ts';
import type { Fork, Said } from './timeline.ts';

const lineCharacters = 240;

const Branch = ({ title, said, other, past }: BranchProps) => (
  <section class="branch" aria-label={title}>
    <h3>{title}</h3>
    {said.length === 0 && <p class="hint">Nothing was said.</p>}
    <ol>
      {said.map(({ seq, role, text }, at) => {
        const isSame = other[at]?.role === role && other[at]?.text === text;
        return (
          <li key={`${seq}${role}`} class={isSame ? '' : 'branch-differs'}>
            <button type="button" class="branch-line" onClick={() => past.goTo(past.timeline.countAt(seq))}>
              <b>{role === 'user' ? 'Person' : 'Agent'}</b> {oneLine(text, lineCharacters)}
              {!isSame && <span class="unseen"> (differs)</span>}
            </button>
          </li>
        );
      })}
    </ol>
  </section>
);
interface BranchProps {
  readonly title: string;
  readonly said: readonly Said[];
  readonly other: readonly Said[];
  readonly past: Past;
}

const StateDifferences = ({ changes }: { readonly changes: readonly Change[] }) => (
  <table class="branch-state">
    <caption>Where their states differ at their ends</caption>
    <thead>
      <tr>
        <th scope="col">Field</th>
        <th scope="col">Left behind</th>
        <th scope="col">Fork</th>
      </tr>
    </thead>
    <tbody>
      {changes.map(({ path, before, after }) => (
        <tr key={path}>
          <th scope="row">{path}</th>
          <td>{shortValue(before)}</td>
          <td>{shortValue(after)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Two = ({ fork, past }: { readonly fork: Fork; readonly past: Past }) => {
  const { place, ancestor, end } = fork;
  const { timeline } = past;
  const [left, right, changes] = useMemo(() => {
    const differences = changesBetween(timeline.stateAfter(place - 1), timeline.stateAfter(end));
    return [
      timeline.saidBetween(ancestor, place - 1),
      timeline.saidBetween(place - 1, end),
      differences.filter((change) => !isBookkeeping(change)),
    ] as const;
  }, [timeline, place, ancestor, end]);
  return (
    <>
      <p class="hint">
        Both have the same {ancestor} commits before them. The common ancestor is{' '}
        <button type="button" class="button button-quiet" onClick={() => past.goTo(ancestor)}>
          commit {ancestor}
        </button>
      </p>
      <div class="branches">
        <Branch title="Left behind" said={left} other={right} past={past} />
        <Branch title="Fork" said={right} other={left} past={past} />
      </div>
      {changes.length > 0 && <StateDifferences changes={changes} />}
    </>
  );
};

/** The forks of a session beside what each left behind, from their common ancestor on, with the differences marked (B21). */
export const ForkComparison = ({ past }: { readonly past: Past }) => {
  const count = past.count.value;
  const forks = useMemo(() => past.timeline.forks(), [past, count]);
  const [chosen, choose] = useState(-1);
  const fork = forks.at(Math.min(chosen, forks.length - 1));
  if (fork === undefined) return null;
  return (
    <section class="card card-wide" aria-labelledby="moment-forks">
      <h2 id="moment-forks">Forks side by side</h2>
      {forks.length > 1 && (
        <label class="select">
          <span>Which fork</span>
          <select value={forks.indexOf(fork)} onChange={(event) => choose(Number(event.currentTarget.value))}>
            {forks.map(({ place, ancestor }, at) => (
              <option key={place} value={at}>
                at commit {place}, from {ancestor}
              </option>
            ))}
          </select>
        </label>
      )}
      <Two fork={fork} past={past} />
    </section>
  );
};
