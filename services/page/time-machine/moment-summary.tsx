import { useMemo, useState } from 'preact/hooks';
import type { ShownState } from '../../../shared/domain/session/fold/evolve.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { StatusBadge } from '../parts/status.tsx';
import type { Past } from './past.ts';
import { lastSaid } from './said.ts';
import { SaidLines } from './said-lines.tsx';

const [fewLines, manyLines] = [4, 200];

/** What the session was at a moment, in words: its state, its counts, and the conversation that the agent knew. */
export const MomentSummary = ({ past, state }: { readonly past: Past; readonly state: ShownState }) => {
  const { context, position, status } = state;
  const { usage, approval, queue, turn } = context;
  const [isLong, setLong] = useState(false);
  const place = past.place.value;
  const { lines, hasMore } = useMemo(
    () => lastSaid(past.timeline.commits, place, position, isLong ? manyLines : fewLines),
    [past, place, position, isLong],
  );
  if (place === 0) return null;
  return (
    <section class="card" aria-labelledby="moment-summary">
      <h2 id="moment-summary">The session at this moment</h2>
      <p class="moment-facts">
        <StatusBadge status={status} />
        <span>generation {context.generation}</span>
        <span>{counted(context.messages, 'message')}</span>
        <span>{counted(context.completedTurns, 'turn')} answered</span>
        <span>{usage.totalTokens.toLocaleString()} tokens</span>
        {turn !== null && <span>at step {turn.step} of an answer</span>}
        {queue.length > 0 && <span>{queue.length} in the queue</span>}
      </p>
      {approval !== null && <p class="moment-waits">Waits for a person: {approval.action}</p>}
      <h3>What the agent knew of the conversation</h3>
      {hasMore && !isLong && (
        <button type="button" class="button button-quiet moment-more" onClick={() => setLong(true)}>
          Show what was said before
        </button>
      )}
      {hasMore && isLong && <p class="hint">The last {manyLines} lines. What was before them is in the transcript.</p>}
      {lines.length === 0 ? (
        <p class="hint">Nothing was said yet.</p>
      ) : (
        <SaidLines lines={lines} width={isLong ? undefined : 100} go={({ seq }) => past.goTo(past.timeline.countAt(seq))} />
      )}
    </section>
  );
};
