import { signal } from '@preact/signals';
import { useLayoutEffect, useState } from 'preact/hooks';

/** A text that is not sent yet, kept in this tab through a reload. `name`: what it is for, such as a session's key. */
export const draftOf = (name: string): string | null => sessionStorage.getItem(`natter-draft:${name}`);

/** How often a draft has changed. */
const changes = signal(0);
/** The same, for what shows it as it changes. */
export const currentDraft = (name: string): string | null => {
  void changes.value;
  return draftOf(name);
};

/** `null`: there is none any more. */
export const keepDraft = (name: string, text: string | null): void => {
  if (text === null) sessionStorage.removeItem(`natter-draft:${name}`);
  else sessionStorage.setItem(`natter-draft:${name}`, text);
  changes.value = changes.peek() + 1;
};

/** The text of a field, kept as a draft while there is any, and how it is changed. */
export const useDraft = (name: string): readonly [string, (text: string) => void] => {
  const kept = currentDraft(name) ?? '';
  const [text, setText] = useState(kept);
  // It may change elsewhere, too. What there is no room to keep stays in the field.
  useLayoutEffect(() => setText(kept), [kept]);
  const keep = (draft: string): void => {
    setText(draft);
    keepDraft(name, draft === '' ? null : draft);
  };
  return [text, keep];
};
