import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface ConfirmProps {
  readonly title: string;
  readonly words: string;
  /** What is lost cannot be had back. */
  readonly isDangerous?: boolean;
  readonly children?: ComponentChildren;
  yes(): void;
  no(): void;
}

/** Asks before something is done. The browser's own dialog keeps the focus inside, and Escape says no. */
export const Confirm = ({ title, words, isDangerous = false, children, yes, no }: ConfirmProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="confirm" aria-labelledby="confirm-title" onClose={no}>
      <h2 id="confirm-title">{title}</h2>
      {children}
      <div class="confirm-buttons">
        <button type="button" class="button" onClick={no}>
          Cancel
        </button>
        <button type="button" class={`button button-first ${isDangerous ? 'button-danger' : ''}`} onClick={yes}>
          {words}
        </button>
      </div>
    </dialog>
  );
};
