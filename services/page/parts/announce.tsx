import { signal } from '@preact/signals';

const shownTexts = 20;
const texts = signal<readonly { readonly id: number; readonly text: string }[]>([]);
let count = 0;

/** Has a screen reader say something that is finished: a message, an answer to an approval. Never text that is still growing, and nothing of an empty one. */
export const announce = (text: string): void => {
  if (text.trim() === '') return;
  texts.value = [...texts.value, { id: count++, text }].slice(-shownTexts);
};

export const Announcements = () => (
  <div class="unseen" role="log" aria-live="polite" aria-label="What happened">
    {texts.value.map(({ id, text }) => (
      <p key={id}>{text}</p>
    ))}
  </div>
);
