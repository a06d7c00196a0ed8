import { useState } from 'preact/hooks';
import { counted } from '../../../shared/kit/text/counted.ts';
import { Confirm } from '../parts/confirm.tsx';
import { type Action, actions, choosing, chosen, doToAll, lostWords, outcome } from './chosen.ts';

const shownKeys = 8;

/** What can be done to the chosen sessions. Each is asked about before it is done. */
export const Bulk = ({ isArchive }: { readonly isArchive: boolean }) => {
  const [asked, ask] = useState<Action | null>(null);
  const keys = [...chosen.value];
  const offered: readonly Action[] = isArchive ? ['restore', 'delete'] : ['archive', 'pin', 'unpin', 'delete'];
  const names = counted(keys.length, 'session');
  return (
    <div class="bulk">
      <p class="hint" role="status">
        {outcome.value ?? `${names} chosen`}
      </p>
      {offered.map((action) => (
        <button key={action} type="button" class="button" disabled={keys.length === 0} onClick={() => ask(action)}>
          {actions[action].words}
        </button>
      ))}
      <button type="button" class="button button-quiet" onClick={() => choosing(false)}>
        Done
      </button>
      {asked !== null && (
        <Confirm
          title={`${actions[asked].words} ${names}?`}
          words={actions[asked].words}
          isDangerous={asked === 'delete'}
          no={() => ask(null)}
          yes={() => {
            ask(null);
            void doToAll(asked);
          }}
        >
          {asked === 'delete' && <p>For each: {lostWords}</p>}
          <ul class="bulk-keys">
            {keys.slice(0, shownKeys).map((key) => (
              <li key={key}>{key}</li>
            ))}
            {keys.length > shownKeys && <li>and {keys.length - shownKeys} more</li>}
          </ul>
        </Confirm>
      )}
    </div>
  );
};
