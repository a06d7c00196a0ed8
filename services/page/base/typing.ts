const fields = 'textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=range])';

/** Whether somebody types there: keys are text, and no shortcuts. */
export const isTyping = (target: EventTarget | null): boolean => target instanceof Element && target.closest(fields) !== null;

/** Whether somebody is asked something: nothing below it has keys then. */
export const isAsked = (): boolean => document.querySelector('dialog[open]') !== null;
