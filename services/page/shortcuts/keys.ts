/**
 * The keys of the whole page, and what each does. Two keys are pressed one after the other: one alone, held down, or too late, answers no
 * approval.
 */

export const shortcuts = [
  { keys: 'g s', does: 'sessions', words: 'Go to the sessions' },
  { keys: 'g a', does: 'approvals', words: 'Go to the approvals' },
  { keys: 'g e', does: 'events', words: 'Go to the events' },
  { keys: 'g y', does: 'system', words: 'Go to the system' },
  { keys: 'g u', does: 'account', words: 'Go to your account' },
  { keys: 'g c', does: 'chat', words: 'Chat of the open session' },
  { keys: 'g t', does: 'transcript', words: 'Transcript of the open session' },
  { keys: 'g m', does: 'time', words: 'Time machine of the open session' },
  { keys: 'j', does: 'next', words: 'Next session of the list' },
  { keys: 'k', does: 'previous', words: 'Previous session of the list' },
  { keys: 'c', does: 'new', words: 'New chat' },
  { keys: 'm', does: 'write', words: 'Write in the open session' },
  { keys: '/', does: 'search', words: 'Search the sessions' },
  { keys: 'y y', does: 'allow', words: 'Allow once: the approval with the focus; without one, go to the first' },
  { keys: 'n n', does: 'deny', words: 'Deny: the approval with the focus; without one, go to the first' },
  { keys: 'n r', does: 'reason', words: 'Deny with a reason: the approval with the focus; without one, go to the first' },
  { keys: '?', does: 'help', words: 'Show these keys' },
] as const;
export type ShortcutAction = (typeof shortcuts)[number]['does'];

/** The keys of single views, where no field has the focus. */
export const viewKeys = [
  {
    view: 'In the time machine',
    keys: [
      { keys: '← →', words: 'One commit back, one commit on' },
      { keys: 'Home End', words: 'To the beginning, to the newest commit' },
      { keys: '↑ ↓', words: 'From commit to commit in their list' },
    ],
  },
  {
    view: 'In Events',
    keys: [
      { keys: '↑ ↓', words: 'From event to event in their list' },
      { keys: 'Enter', words: 'From an event in the list to all of it' },
    ],
  },
] as const;

/** A key press, as far as it matters here. */
export interface Press {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly isComposing: boolean;
  /** The key is held down. */
  readonly repeat: boolean;
  readonly defaultPrevented: boolean;
}

/**
 * Whether a press opens the palette: Ctrl K, with ⌘ on a Mac, where Ctrl K deletes to the end of the line. It is no character, so it works in
 * fields too.
 */
export const opensPalette = ({ key, ctrlKey, metaKey, altKey, isComposing }: Press, isMac: boolean): boolean =>
  key.toLowerCase() === 'k' && (isMac ? metaKey && !ctrlKey : ctrlKey && !metaKey) && !altKey && !isComposing;

/** How long the second of two keys is waited for, ms. */
const betweenMs = 1_500;

/** Puts key presses together to what they ask for. */
export class PressedKeys {
  #first: { readonly key: string; readonly at: number } | null = null;

  /** What a press at a time (ms) asks for; `null`: nothing, or not yet. */
  take(press: Press, at: number): ShortcutAction | null {
    const { key } = press;
    const first = this.#first;
    if (key === 'Shift') return null;
    this.#first = null;
    if (press.ctrlKey || press.metaKey || press.altKey || press.isComposing || press.defaultPrevented) return null;
    const both = first !== null && !press.repeat && at - first.at <= betweenMs ? `${first.key} ${key}` : key;
    const found = shortcuts.find(({ keys }) => keys === both);
    if (found === undefined && shortcuts.some(({ keys }) => keys.startsWith(`${key} `))) this.#first = { key, at };
    return found?.does ?? null;
  }
}

/** The key before or after another in a list; without one, or with one that is not in it, the first. */
export const besideKey = (keys: readonly string[], open: string | undefined, step: 1 | -1): string | undefined => {
  const at = open === undefined ? -1 : keys.indexOf(open);
  return at === -1 ? keys[0] : keys[at + step];
};
