import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface ConfirmProps {
  readonly title: string;
  readonly words: string;
  /** What the other button says. Default: `Cancel`. */
  readonly dismissal?: string;
  /** What is lost cannot be had back. */
  readonly isDangerous?: boolean;
  readonly children?: ComponentChildren;
  yes(): void;
  no(): void;
}

interface DialogProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly buttons: ComponentChildren;
  close(): void;
}

/** Something in front of the page. The browser's own dialog keeps the focus inside, and Escape closes it. */
export const Dialog = ({ title, children, buttons, close }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="confirm" aria-labelledby="dialog-title" onClose={close}>
      <h2 id="dialog-title">{title}</h2>
      {children}
      <div class="confirm-buttons">{buttons}</div>
    </dialog>
  );
};

/** Says something that there is nothing to decide about. */
export const InfoDialog = ({ title, children, close }: Omit<DialogProps, 'buttons'>) => (
  <Dialog
    title={title}
    close={close}
    buttons={
      <button type="button" class="button" onClick={close}>
        Close
      </button>
    }
  >
    {children}
  </Dialog>
);

/** Asks before something is done. Escape says no. */
export const Confirm = ({ title, words, dismissal = 'Cancel', isDangerous = false, children, yes, no }: ConfirmProps) => (
  <Dialog
    title={title}
    close={no}
    buttons={
      <>
        <button type="button" class="button" onClick={no}>
          {dismissal}
        </button>
        <button type="button" class={`button button-first ${isDangerous ? 'button-danger' : ''}`} onClick={yes}>
          {words}
        </button>
      </>
    }
  >
    {children}
  </Dialog>
);
