import type { ComponentChildren } from 'preact';
import { CopyButton } from './copy-button.tsx';

/** In place of a view that an address names and that does not exist. */
export const NoSuchView = ({ link, words }: { readonly link: string; readonly words: string }) => (
  <div class="empty">
    <h1>There is no such view</h1>
    <p>The address of this page leads nowhere.</p>
    <a class="button" href={link}>
      {words}
    </a>
  </div>
);

/** What is shown where there is nothing yet: what this place is for, and what to do next. */
export const Empty = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <h2>{title}</h2>
    {children}
  </div>
);

/** A line to copy: what to do with it, as a sentence with a colon, and the line itself. */
export const LineToCopy = ({ says, line }: { readonly says: string; readonly line: string }) => (
  <div class="line-to-copy">
    <p>{says}</p>
    <div>
      <pre>{line}</pre>
      <CopyButton text={line} what="the line" />
    </div>
  </div>
);

interface ProblemProps {
  readonly text: string;
  again?(): void;
  discard?(): void;
}
export const Problem = ({ text, again, discard }: ProblemProps) => (
  <div class="problem" role="alert">
    <p>{text}</p>
    {again && (
      <button type="button" class="button" onClick={again}>
        Try again
      </button>
    )}
    {discard && (
      <button type="button" class="button button-quiet" onClick={discard}>
        Discard
      </button>
    )}
  </div>
);
