import type { ComponentChildren } from 'preact';

/** What is shown where there is nothing yet: what this place is for, and what to do next. */
export const Empty = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <h2>{title}</h2>
    {children}
  </div>
);

export const Problem = ({ text, again }: { readonly text: string; readonly again?: () => void }) => (
  <div class="problem" role="alert">
    <p>{text}</p>
    {again && (
      <button type="button" class="button" onClick={again}>
        Try again
      </button>
    )}
  </div>
);
