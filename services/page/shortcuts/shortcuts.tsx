import { Fragment } from 'preact';
import { focus, focusSoon, trySoon } from '../base/focus.ts';
import { newChat, readIn, writeIn } from '../base/new-chat.ts';
import { go, linkTo, listQuery, route } from '../base/route.ts';
import { isViewer, mayWrite } from '../base/signed-in.ts';
import { isAsked, isTyping } from '../base/typing.ts';
import { approvalInFocus, focusWaiting, openApprovals } from '../base/waiting-approval.ts';
import { isPaletteOpen } from '../palette/open.ts';
import { announce } from '../parts/announce.tsx';
import { InfoDialog } from '../parts/confirm.tsx';
import { shownRows } from '../sessions/shown-rows.ts';
import { areShortcutsOn, isHelpOpen, showShortcuts, switchShortcuts } from './choice.ts';
import { besideKey, opensPalette, PressedKeys, type ShortcutAction, shortcuts, viewKeys } from './keys.ts';

const isMac = navigator.userAgent.includes('Mac');
export const paletteKeys = { keys: isMac ? '⌘ K' : 'Ctrl K', words: 'Search for a view, or a session by its name' };

const leaveKeys = { keys: 'Esc', words: 'Move from the message field to the conversation' };

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

const showTab = (tab: string): void => {
  const [place, key] = route.peek().path;
  if (place !== 'sessions' || key === undefined) return;
  go(['sessions', key, tab], listQuery());
  focusSoon(`.session .tabs a[href*="/${tab}"]`);
};

/** Presses a button of the approval that the focus is on or in. If it is on none, nothing is answered: it goes to the first that waits. */
const answerHere = (button: 'allow' | 'deny' | 'reason'): void => {
  const approval = approvalInFocus();
  if (approval) approval.querySelector<HTMLElement>(`[data-key=${button}]`)?.click();
  else if (focusWaiting()) announce('The first approval that waits has the focus. The same keys answer it.');
};

const run = (action: ShortcutAction): void => {
  switch (action) {
    case 'next':
      return openBeside(1);
    case 'previous':
      return openBeside(-1);
    case 'new':
      return mayWrite() ? newChat() : undefined;
    case 'chat':
    case 'transcript':
    case 'time':
      return showTab(action);
    case 'allow':
    case 'deny':
    case 'reason':
      return answerHere(action);
    case 'approvals':
      return openApprovals();
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
