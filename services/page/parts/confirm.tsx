import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useBack } from '../base/back.ts';

interface ConfirmProps {
  readonly title: string;
  /** What the button says that does it; without it there is nothing to decide about. */
  readonly words?: string | undefined;
  /** What the other button says. Default: `Cancel`. */
  readonly dismissal?: string;
  /** What is lost cannot be had back. */
  readonly isDangerous?: boolean;
  /** It cannot be done now. */
  readonly isOff?: boolean;
  /** The form that the button sends, in place of `yes`. */
  readonly form?: string;
  readonly children?: ComponentChildren;
  yes?(): void;
  no(): void;
}

interface DialogProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly buttons: ComponentChildren;
  close(): void;
}

/** Something in front of the page. The browser's own dialog keeps the focus inside; Escape and Back close it. */
export const Dialog = ({ title, children, buttons, close }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  useBack(() => dialog.current?.close());
  return (
    <dialog ref={dialog} class="confirm" aria-labelledby="dialog-title" onClose={close}>
      <h2 id="dialog-title">{title}</h2>
      <div class="confirm-body">{children}</div>
      <div class="confirm-buttons">{buttons}</div>
    </dialog>
  );
};

/** Asks before something is done. Escape and Back say no. */
export const Confirm = (props: ConfirmProps) => {
  const { title, words, dismissal = 'Cancel', isDangerous = false, isOff = false, form, children, yes, no } = props;
  const dismiss = useRef<HTMLButtonElement>(null);
  // Where there is nothing to decide about, no other control is meant.
  useEffect(() => {
    if (words === undefined) dismiss.current?.focus();
  }, []);
  return (
    <Dialog
      title={title}
      close={no}
      buttons={
        <>
          <button ref={dismiss} type="button" class="button" onClick={no}>
            {dismissal}
          </button>
          {words !== undefined && (
            <button
              type={form === undefined ? 'button' : 'submit'}
              form={form}
              class={`button button-first ${isDangerous ? 'button-danger' : ''}`}
              disabled={isOff}
              onClick={yes}
            >
              {words}
            </button>
          )}
        </>
      }
    >
      {children}
    </Dialog>
  );
};

/** Says something that there is nothing to decide about. */
export const InfoDialog = ({ title, children, close }: Omit<DialogProps, 'buttons'>) => (
  <Confirm title={title} dismissal="Close" no={close}>
    {children}
  </Confirm>
);
