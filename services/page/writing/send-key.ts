/** Whether a key that is pressed in a field sends what is written there. */
export const isSendKey = ({ key, shiftKey, isComposing }: KeyboardEvent): boolean => key === 'Enter' && !shiftKey && !isComposing;
export const sendKeyWords = 'Enter sends, Shift+Enter begins a new line.';
