import { Time } from '../parts/time.tsx';
import type { ApprovalStory } from './approval-story.ts';

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
export const Outcome = ({ story: { result, answer } }: { readonly story: ApprovalStory }) => {
  if (result === undefined) return answer?.verdict === 'granted' ? <p class="hint">It runs…</p> : null;
  return (
    <>
      <p class={failures.has(result.outcome) ? 'act-failed' : 'act-done'}>
        {outcomeWords[result.outcome] ?? result.outcome}, <Time at={result.at} exact />
      </p>
      {result.text !== '' && <pre class="approval-given">{result.text}</pre>}
    </>
  );
};
