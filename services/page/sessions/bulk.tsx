import { useState } from 'preact/hooks';
import { Confirm } from '../parts/confirm.tsx';
import { choosing, chosen, type Deed, deeds, doToAll, outcome } from './chosen.ts';

const shownKeys = 8;

/** What can be done to the chosen sessions. Each is asked about before it is done. */
export const Bulk = ({ isArchive }: { readonly isArchive: boolean }) => {
  const [asked, ask] = useState<Deed | null>(null);
  const keys = [...chosen.value];
  const offered: readonly Deed[] = isArchive ? ['open', 'delete'] : ['archive', 'pin', 'unpin', 'delete'];
  const names = `${keys.length} ${keys.length === 1 ? 'session' : 'sessions'}`;
  return (
    <div class="bulk">
      <p class="hint" role="status">
        {outcome.value ?? `${names} chosen`}
      </p>
      {offered.map((deed) => (
        <button key={deed} type="button" class="button" disabled={keys.length === 0} onClick={() => ask(deed)}>
          {deeds[deed].words}
        </button>
      ))}
      <button type="button" class="button button-quiet" onClick={() => choosing(false)}>
        Done
      </button>
      {asked !== null && (
        <Confirm
          title={`${deeds[asked].words} ${names}?`}
          words={deeds[asked].words}
          no={() => ask(null)}
          yes={() => {
            ask(null);
            void doToAll(asked);
          }}
        >
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
