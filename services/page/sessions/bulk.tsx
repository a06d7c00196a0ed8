import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { counted } from '../../../shared/kit/text/counted.ts';
import { useBack } from '../base/back.ts';
import { knownNameOf } from '../finding/known-names.ts';
import { Confirm, InfoDialog } from '../parts/confirm.tsx';
import {
  type Action,
  actions,
  choose,
  choosing,
  chosen,
  chosenInList,
  doToEach,
  labelling,
  labelsIn,
  lostWords,
  markingRead,
  outcome,
} from './chosen.ts';
import { keptOf } from './kept.ts';
import { rows } from './session-list.ts';
import { shownRows } from './shown-rows.ts';

const shownKeys = 8;

/** Labels that all chosen sessions get, or lose. */
const Labelling = ({ isOff }: { readonly isOff: boolean }) => {
  const [text, setText] = useState('');
  const words = labelsIn(text);
  const label = (isTaking: boolean): void => {
    void doToEach(labelling(words, isTaking), chosenInList.value);
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
      <label>
        Labels, with commas between them
        <input placeholder="home, travel" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <button type="submit" class="button" disabled={isOff || words.length === 0}>
        Add labels
      </button>
      <button type="button" class="button" disabled={isOff || words.length === 0} onClick={() => label(true)}>
        Remove labels
      </button>
    </form>
  );
};

const Names = ({ keys }: { readonly keys: readonly string[] }) => (
  <ul class="bulk-keys">
    {keys.slice(0, shownKeys).map((key) => (
      <li key={key} title={key}>
        {knownNameOf(key)}
      </li>
    ))}
    {keys.length > shownKeys && <li>and {keys.length - shownKeys} more</li>}
  </ul>
);

const Kept = ({ keys }: { readonly keys: readonly string[] }) => (
  <>
    <p>A group’s history belongs to everyone in it, so {keys.length === 1 ? 'this one is' : 'these are'} kept:</p>
    <Names keys={keys} />
  </>
);

/** Asks before something is done to these sessions, and says which of them are kept. */
const Question = ({ action, keys, end }: { readonly action: Action; readonly keys: readonly string[]; end(): void }) => {
  const kept = action === 'delete' ? keptOf(keys) : [];
  const others = keys.filter((key) => !kept.includes(key));
  const { words } = actions[action];
  if (others.length === 0)
    return (
      <InfoDialog title="None of them can be deleted" close={end}>
        <Kept keys={kept} />
      </InfoDialog>
    );
  return (
    <Confirm
      title={`${words} ${counted(others.length, 'session')}?`}
      words={words}
      isDangerous={action === 'delete'}
      no={end}
      yes={() => {
        end();
        void doToEach(actions[action], others);
      }}
    >
      {action === 'delete' && <p>{lostWords(others.length)}</p>}
      {action === 'archive' && <p>A new message, a scheduled one too, brings a session back.</p>}
      <Names keys={others} />
      {kept.length > 0 && <Kept keys={kept} />}
    </Confirm>
  );
};

/** What can be done to the chosen sessions. Each is asked about before it is done, but for labels and marks, which can be taken back. */
export const Bulk = ({ isArchive }: { readonly isArchive: boolean }) => {
  const [asked, ask] = useState<Action | null>(null);
  const [isLabelling, setLabelling] = useState(false);
  const keys = chosenInList.value;
  const listed = rows.value;
  // What has left the list is not chosen any more where it comes to stand next.
  useEffect(() => {
    if (listed !== null) choose(keys);
  }, [listed]);
  useBack(() => choosing(false));
  // Escape leaves the choice, and so does going to another view. A question that is open takes Escape for itself.
  useLayoutEffect(() => {
    const leave = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) choosing(false);
    };
    addEventListener('keydown', leave);
    return () => {
      removeEventListener('keydown', leave);
      choosing(false);
    };
  }, []);
  const shown = (shownRows.value?.list ?? []).map(({ key }) => key);
  const isAll = shown.length > 0 && shown.every((key) => chosen.value.has(key));
  const offered: readonly Action[] = isArchive ? ['restore', 'delete'] : ['archive', 'pin', 'unpin', 'delete'];
  return (
    <div class="bulk">
      <p class="hint" role="status">
        {outcome.value} {counted(keys.length, 'session')} selected
      </p>
      <button type="button" class="button" disabled={shown.length === 0} onClick={() => choose(isAll ? [] : shown)}>
        {isAll ? 'Select none' : `Select all ${shown.length} shown`}
      </button>
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
      <button type="button" class="button" disabled={keys.length === 0} onClick={() => void doToEach(markingRead, keys)}>
        Mark as read
      </button>
      <button type="button" class="button" aria-expanded={isLabelling} onClick={() => setLabelling(!isLabelling)}>
        Labels…
      </button>
      <button type="button" class="button button-quiet" onClick={() => choosing(false)}>
        Done
      </button>
      {isLabelling && <Labelling isOff={keys.length === 0} />}
      {asked !== null && <Question action={asked} keys={keys} end={() => ask(null)} />}
    </div>
  );
};
