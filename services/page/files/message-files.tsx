import { type Attachment, isKept } from '../../../shared/domain/values/attachment.ts';
import { kindOfFile } from '../../../shared/domain/values/media-type.ts';
import { ActOutcome, useAct } from '../parts/act.tsx';
import { contentOf } from './content.ts';
import { factsOf, fileName } from './file-words.ts';
import { Preview } from './preview.tsx';
import { saveFile } from './save-file.ts';

interface OneFileProps {
  readonly sessionKey: string;
  readonly file: Attachment;
}

const OneFile = ({ sessionKey, file }: OneFileProps) => {
  const act = useAct();
  const name = fileName(file);
  const save = async (digest: string): Promise<void> => {
    saveFile(name, await contentOf(sessionKey, digest), 'application/octet-stream');
  };
  return (
    <li class="file">
      {isKept(file) && kindOfFile(file.type) === 'image' && <Preview sessionKey={sessionKey} file={file} />}
      <span class="file-name">{name}</span>
      <span class="file-facts">{factsOf(file)}</span>
      {isKept(file) ? (
        <button
          type="button"
          class="button button-quiet"
          aria-label={`Download ${name}`}
          disabled={act.isBusy}
          onClick={() => void act.run(() => save(file.digest), 'Saved')}
        >
          Download
        </button>
      ) : (
        <span class="file-facts">only named here: Natter does not keep it</span>
      )}
      <ActOutcome act={act} />
    </li>
  );
};

interface MessageFilesProps {
  readonly sessionKey: string;
  readonly files: readonly Attachment[];
}

/** The files that came with a message. */
const MessageFiles = ({ sessionKey, files }: MessageFilesProps) => (
  <ul class="files" aria-label="Files">
    {files.map((file, at) => (
      <OneFile key={`${at}${file.digest ?? ''}`} sessionKey={sessionKey} file={file} />
    ))}
  </ul>
);
export default MessageFiles;
