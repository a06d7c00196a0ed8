import { Time } from '../parts/time.tsx';
import { cutWords, type Ending } from './ending.ts';

const outcomeWords: Readonly<Record<string, string>> = {
  ok: 'It ran',
  error: 'It ran and failed',
  denied: 'It did not run',
  expired: 'It did not run',
  unknown: 'Nobody knows whether it took effect',
};
/** That a call does not run is no failure: a person said so, or nobody answered. */
const failures: ReadonlySet<string> = new Set(['error', 'unknown']);

/** What became of a call that a person was asked about. */
export const Outcome = ({ ending: { answer, begunAt, result, cut, unanswered } }: { readonly ending: Ending }) => {
  if (result !== undefined)
    return (
      <>
        <p class={failures.has(result.outcome) ? 'act-failed' : 'act-done'}>
          {outcomeWords[result.outcome] ?? result.outcome}, <Time at={result.at} exact />
        </p>
        {result.text !== '' && (
          <>
            <p class="hint">What the agent was told of it:</p>
            <pre class="approval-given">{result.text}</pre>
          </>
        )}
      </>
    );
  if (cut !== undefined)
    return (
      <p class={begunAt === undefined ? 'act-done' : 'act-failed'}>
        {begunAt === undefined
          ? `It did not run: ${cutWords[cut.by]} first`
          : `It began, then ${cutWords[cut.by]}: nobody knows whether it took effect`}
        , <Time at={cut.at} exact />
      </p>
    );
  if (unanswered !== undefined) return <p class="act-done">It did not run.</p>;
  if (answer?.verdict !== 'granted') return null;
  return (
    <p class="hint">
      {begunAt === undefined ? (
        'It has not begun yet…'
      ) : (
        <>
          It runs since <Time at={begunAt} exact />…
        </>
      )}
    </p>
  );
};
