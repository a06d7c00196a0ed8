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

/** The memories that the agent was given with its instructions at a moment, as they are now. `isLive`: a gateway can be asked for them. */
export const MomentMemories = ({ state, isLive }: { readonly state: ShownState; readonly isLive: boolean }) => {
  const [isOpen, setOpen] = useState(false);
  const ids = state.context.prompt.flatMap(({ memories = [] }) => memories);
  if (ids.length === 0) return null;
  const words = `The agent was given ${ids.length} ${ids.length === 1 ? 'memory' : 'memories'}`;
  if (!isLive)
    return (
      <p class="hint">
        {words}: {ids.join(', ')}
      </p>
    );
  return (
    <details class="moment-memories" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{words}</summary>
      {isOpen && (
        <ul>
          {ids.slice(0, most).map((id) => (
            <One key={id} id={id} />
          ))}
        </ul>
      )}
      {ids.length > most && <p class="hint">And {ids.length - most} more, older ones.</p>}
    </details>
  );
};
