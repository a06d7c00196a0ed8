import { useEffect, useState } from 'preact/hooks';
import { counted } from '../../../shared/kit/text/counted.ts';
import { Confirm } from '../parts/confirm.tsx';
import { type Action, actions, choosing, chosen, doToAll, labelling, labelsIn, lostWords, outcome } from './chosen.ts';
import { keptWords } from './kept.ts';

const shownKeys = 8;

/** Labels that all chosen sessions get, or lose. */
const Labelling = ({ isOff }: { readonly isOff: boolean }) => {
  const [text, setText] = useState('');
  const words = labelsIn(text);
  const label = (isTaking: boolean): void => {
    void doToAll(labelling(words, isTaking));
    setText('');
  };
  return (
    <form
      class="bulk-labels"
      onSubmit={(event) => {
        event.preventDefault();
        if (words.length > 0 && !isOff) label(false);
      }}
    >
      <input
        aria-label="Labels, with commas between them"
        placeholder="home, travel"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="button" disabled={isOff || words.length === 0}>
        Add labels
      </button>
      <button type="button" class="button" disabled={isOff || words.length === 0} onClick={() => label(true)}>
        Remove
      </button>
    </form>
  );
};

/** What can be done to the chosen sessions. Each is asked about before it is done, but for labels, which can be taken back. */
export const Bulk = ({ isArchive }: { readonly isArchive: boolean }) => {
  const [asked, ask] = useState<Action | null>(null);
  const keys = [...chosen.value];
  // Escape leaves the choice, and so does going to another view. A question that is open takes Escape for itself.
  useEffect(() => {
    const leave = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) choosing(false);
    };
    addEventListener('keydown', leave);
    return () => {
      removeEventListener('keydown', leave);
      choosing(false);
    };
  }, []);
  const offered: readonly Action[] = isArchive ? ['restore', 'delete'] : ['archive', 'pin', 'unpin', 'delete'];
  const names = counted(keys.length, 'session');
  return (
    <div class="bulk">
      <p class="hint" role="status">
        {outcome.value ?? `${names} chosen`}
      </p>
      {offered.map((action) => (
        <button
          key={action}
          type="button"
          class={`button ${action === 'delete' ? 'button-danger' : ''}`}
          disabled={keys.length === 0}
          onClick={() => ask(action)}
        >
          {actions[action].words}
        </button>
      ))}
      <button type="button" class="button button-quiet" onClick={() => choosing(false)}>
        Done
      </button>
      <Labelling isOff={keys.length === 0} />
      {asked !== null && (
        <Confirm
          title={`${actions[asked].words} ${names}?`}
          words={actions[asked].words}
          isDangerous={asked === 'delete'}
          no={() => ask(null)}
          yes={() => {
            ask(null);
            void doToAll(actions[asked]);
          }}
        >
          {asked === 'delete' && <p>For each: {lostWords}</p>}
          {asked === 'delete' && keptWords(keys) !== null && <p>{keptWords(keys)}</p>}
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
