import type { NewMessage } from '../../../shared/client/main.ts';
import { type Attachment, isKept } from '../../../shared/domain/values/attachment.ts';
import { contentOf } from './content.ts';
import { typeOf } from './file-words.ts';

const base64Of = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new Error(`${file.name} can no longer be read; choose it again.`));
    reader.readAsDataURL(file);
  });

/** Files as a message has them. Throws with the name of one that cannot be read. */
export const postedFiles = (files: readonly File[]): Promise<NonNullable<NewMessage['attachments']>> =>
  Promise.all(
    files.map(async (file) => {
      const type = typeOf(file);
      return { data: await base64Of(file), ...(type && { type }), ...(file.name && { name: file.name }) };
    }),
  );

/** The files of a message as they can be sent again. Throws where one is gone. */
export const keptFiles = (key: string, attachments: readonly Attachment[] = []): Promise<File[]> =>
  Promise.all(
    attachments
      .filter(isKept)
      .map(async ({ digest, name = '', type }) => new File([await contentOf(key, digest)], name, { type })),
  );
