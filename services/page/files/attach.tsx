import { useRef } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { addFiles, chooseFiles, chosenFor, refusalOf, takesFiles } from './chosen-files.ts';
import { fileName, sizeText } from './file-words.ts';

interface AttachProps {
  readonly sessionKey: string;
  /** Where the focus goes once files are chosen. */
  readonly field: { readonly current: HTMLElement | null };
}

/** Chooses files for the next message. */
export const AttachButton = ({ sessionKey, field }: AttachProps) => {
  const input = useRef<HTMLInputElement>(null);
  if (!takesFiles()) return null;
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          addFiles(sessionKey, currentTarget.files ?? []);
          // So that the same file can be chosen again.
          currentTarget.value = '';
          field.current?.focus();
        }}
      />
      <button
        type="button"
        class="button button-round button-quiet"
        aria-label="Attach files"
        title="Attach files"
        onClick={() => input.current?.click()}
      >
        <Icon name="clip" />
      </button>
    </>
  );
};

/** What will be sent with the message, and why it could not be. */
export const ChosenFiles = ({ sessionKey, field }: AttachProps) => {
  const { files, lost } = chosenFor(sessionKey).value;
  if (lost !== null)
    return (
      <p class="chosen-note" role="status">
        A reload does not keep files. Choose them again: {lost}.{' '}
        <button type="button" class="button button-quiet" onClick={() => chooseFiles(sessionKey, [])}>
          Leave them out
        </button>
      </p>
    );
  if (files.length === 0) return null;
  const refused = new Map(files.map((file) => [file, refusalOf([file])] as const).filter(([, why]) => why !== null));
  const why = refused.size > 0 ? [...new Set(refused.values())].join('. ') : refusalOf(files);
  const remove = (file: File): void => {
    chooseFiles(
      sessionKey,
      files.filter((each) => each !== file),
    );
    field.current?.focus();
  };
  return (
    <>
      <ul class="chosen" aria-label="Files to send">
        {files.map((file, at) => (
          <li key={`${at}${file.name}`} class={refused.has(file) ? 'chosen-refused' : ''}>
            {refused.has(file) && (
              <b>
                <Icon name="warning" /> Refused
              </b>
            )}
            <span class="file-name">{fileName(file)}</span> <span class="file-facts">{sizeText(file.size)}</span>
            <button
              type="button"
              class="button button-round button-quiet"
              aria-label={`Remove ${fileName(file)}`}
              onClick={() => remove(file)}
            >
              <Icon name="cross" />
            </button>
          </li>
        ))}
      </ul>
      {why !== null && (
        <p class="act-failed" role="alert">
          {`${why}. Nothing is sent until ${refused.size > 0 ? 'what is refused is' : 'some are'} removed.`}
        </p>
      )}
    </>
  );
};
