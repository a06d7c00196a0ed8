/** Whether a person writes on a screen alone: its keyboard has no Shift+Enter, so Enter has to begin a new line. */
const isTouchOnly = (): boolean => matchMedia('(pointer: coarse)').matches && !matchMedia('(any-pointer: fine)').matches;

/** Whether a key that is pressed in a field sends what is written there. */
export const isSendKey = ({ key, shiftKey, isComposing }: KeyboardEvent): boolean =>
  key === 'Enter' && !shiftKey && !isComposing && !isTouchOnly();

/** What Enter does, and what sends. */
export const sendKeyWords = (): string =>
  isTouchOnly() ? 'Enter begins a new line, the button sends.' : 'Enter sends, Shift+Enter begins a new line.';
