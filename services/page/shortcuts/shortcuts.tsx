import { signal } from '@preact/signals';
import { Fragment } from 'preact';
import { readIn, writeIn } from '../base/new-chat.ts';
import { go, linkTo, listQuery, route } from '../base/route.ts';
import { isViewer } from '../base/signed-in.ts';
import { isAsked, isTyping } from '../base/typing.ts';
import { isPaletteOpen } from '../palette/open.ts';
import { InfoDialog } from '../parts/confirm.tsx';
import { shownRows } from '../sessions/shown-rows.ts';
import { areShortcutsOn, switchShortcuts } from './choice.ts';
import { besideKey, opensPalette, PressedKeys, type ShortcutAction, shortcuts, viewKeys } from './keys.ts';

const isMac = navigator.userAgent.includes('Mac');
export const paletteKeys = { keys: isMac ? '⌘ K' : 'Ctrl K', words: 'Search for a view, or a session by its name' };

const leaveKeys = { keys: 'Esc', words: 'Move from the message field to the conversation' };

const isHelpOpen = signal(false);
/** Opens the list of the keys. */
export const showShortcuts = (): void => {
  isHelpOpen.value = true;
};

const focus = (selector: string): boolean => {
  const found = document.querySelector<HTMLElement>(selector);
  found?.focus();
  return found !== null && document.activeElement === found;
};
/** What is focused may have to be drawn first: it is tried in each second frame, so many times. */
const trySoon = (attempt: () => boolean, times = 100): void => {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (!attempt() && times > 1) trySoon(attempt, times - 1);
    }),
  );
};
const focusSoon = (selector: string): void => trySoon(() => focus(selector));

/** On a small screen a session stands in place of the list. */
const isListInSight = (): boolean => document.querySelector('.list')?.checkVisibility() === true;

const openBeside = (step: 1 | -1): void => {
  const keys = (shownRows.peek()?.list ?? []).map(({ key }) => key);
  const key = besideKey(keys, route.peek().path[1], step);
  if (key === undefined) return;
  const place = [['sessions', key, 'chat'], listQuery()] as const;
  readIn(key);
  go(...place);
  const row = `a.row[href=${JSON.stringify(linkTo(...place))}]`;
  // Enter and Tab go on from the row that is open, or from the session itself.
  trySoon(() => focus(isListInSight() ? row : '.session .tabs [aria-current]'));
};

const write = (): void => {
  const [place, key] = route.peek().path;
  if (place === 'sessions' && key !== undefined && !focus('.composer textarea')) writeIn(key);
};

const search = (): void => {
  if (focus('.filters input[type=search]')) return;
  go(['sessions'], listQuery());
  focusSoon('.filters input[type=search]');
};

const run = (action: ShortcutAction): void => {
  switch (action) {
    case 'next':
      return openBeside(1);
    case 'previous':
      return openBeside(-1);
    case 'write':
      return write();
    case 'search':
      return search();
    case 'help':
      return showShortcuts();
    default:
      go([action]);
      focusSoon('#main');
  }
};

/** Follows the keys of the whole page from now on: none while somebody is asked something, and in a field only what is no character. */
export const followShortcuts = (): void => {
  const pressed = new PressedKeys();
  addEventListener('keydown', (event) => {
    // Who reads a shared session has nowhere else to go.
    if (isAsked() || isViewer()) return;
    if (opensPalette(event, isMac)) {
      event.preventDefault();
      isPaletteOpen.value = true;
      return;
    }
    if (event.key === 'Escape' && event.target instanceof Element && event.target.matches('.composer textarea'))
      return void focus('.messages');
    if ((!areShortcutsOn.value && event.key !== '?') || isTyping(event.target)) return;
    const action = pressed.take(event, event.timeStamp);
    if (action === null) return;
    event.preventDefault();
    run(action);
  });
};

const KeyList = ({ keys: all }: { readonly keys: readonly { readonly keys: string; readonly words: string }[] }) => (
  <dl class="shortcuts">
    {all.map(({ keys, words }) => (
      <div key={keys}>
        <dt>
          {keys.split(' ').map((key) => (
            <kbd key={key}>{key}</kbd>
          ))}
        </dt>
        <dd>{words}</dd>
      </div>
    ))}
  </dl>
);

const Help = () => {
  const close = (): void => {
    isHelpOpen.value = false;
  };
  return (
    <InfoDialog title="Keyboard shortcuts" close={close}>
      <KeyList keys={[paletteKeys, leaveKeys, ...shortcuts]} />
      {viewKeys.map(({ view, keys }) => (
        <Fragment key={view}>
          <h3>{view}</h3>
          <KeyList keys={keys} />
        </Fragment>
      ))}
      <label class="shortcuts-on">
        <input
          type="checkbox"
          checked={areShortcutsOn.value}
          onChange={(event) => switchShortcuts(event.currentTarget.checked)}
        />
        Use keyboard shortcuts
      </label>
    </InfoDialog>
  );
};

/** The list of all keys, once somebody asks for it. */
export const ShortcutHelp = () => (isHelpOpen.value ? <Help /> : null);
