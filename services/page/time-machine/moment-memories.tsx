import { useState } from 'preact/hooks';
import type { Memory } from '../../../shared/client/main.ts';
import { isMemorySession } from '../../../shared/domain/memory/memory-session.ts';
import type { ShownState } from '../../../shared/domain/session/fold/evolve.ts';
import { linkTo } from '../base/route.ts';
import { useRead } from '../parts/read.tsx';

/** As many are read at once. */
const most = 20;

const One = ({ id }: { readonly id: string }) => {
  const { value, problem } = useRead<Memory>(`/v1/memory/${encodeURIComponent(id)}`);
  if (value === null)
    return <li class="hint">{problem === null ? 'Reading…' : `Memory ${id}: forgotten since, or not yours to see`}</li>;
  const { text, source } = value;
  return (
    <li>
      {text}{' '}
      {!isMemorySession(source.key) && (
        <a href={linkTo(['sessions', source.key, 'time'], { at: `${source.seq}` })}>The moment it was written</a>
      )}
    </li>
  );
};

const idsIn = ({ context: { prompt } }: ShownState): readonly string[] => prompt.flatMap(({ memories = [] }) => memories);

interface ListProps {
  readonly ids: readonly string[];
  /** A gateway can be asked for them. */
  readonly isLive: boolean;
}
const MemoryList = ({ ids, isLive }: ListProps) => (
  <>
    <ul>{ids.slice(0, most).map((id) => (isLive ? <One key={id} id={id} /> : <li key={id}>{id}</li>))}</ul>
    {ids.length > most && <p class="hint">And {ids.length - most} more, older ones.</p>}
  </>
);

const countWords = ({ length }: readonly string[]): string => `${length} ${length === 1 ? 'memory' : 'memories'}`;

/** The memories that the agent was given with its instructions at a moment, as they are now. */
export const MomentMemories = ({ state, isLive }: { readonly state: ShownState; readonly isLive: boolean }) => {
  const [isOpen, setOpen] = useState(false);
  const ids = idsIn(state);
  if (ids.length === 0) return null;
  return (
    <details class="moment-memories" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The agent was given {countWords(ids)}</summary>
      {isOpen && <MemoryList ids={ids} isLive={isLive} />}
    </details>
  );
};

interface ChangedProps {
  readonly before: ShownState;
  readonly after: ShownState;
  readonly isLive: boolean;
}
/** The memories that the agent was given at one moment and not at an earlier one, and the other way round. */
export const ChangedMemories = ({ before, after, isLive }: ChangedProps) => {
  const [old, now] = [idsIn(before), idsIn(after)];
  // Those of a first step are all of the moment, and after a reset they are read again with the next step.
  if (before.context.prompt.length === 0 || after.context.prompt.length === 0) return null;
  const lists = [
    ['Given to the agent', now.filter((id) => !old.includes(id))],
    ['No longer given to the agent', old.filter((id) => !now.includes(id))],
  ] as const;
  return lists.map(
    ([words, ids]) =>
      ids.length > 0 && (
        <div key={words} class="changed-memories">
          <p>
            {words}: {countWords(ids)}
          </p>
          <MemoryList ids={ids} isLive={isLive} />
        </div>
      ),
  );
};
