import { z } from 'zod';
import { type IncomingFile, type ReadFile, readFileData } from '../../attachments/incoming-file.ts';

/** What a message of a request says: its texts as one, and the files among its parts. */
export interface Content {
  readonly text: string;
  readonly files: readonly IncomingFile[];
}

const textPart = z.union([
  z.object({ type: z.enum(['text', 'input_text', 'output_text']), text: z.string() }).transform(({ text }) => text),
  z.object({ type: z.literal('refusal'), refusal: z.string() }).transform(({ refusal }) => refusal),
]);

const fileData = { file_data: z.string().optional(), filename: z.string().optional() };
const audio = z.object({ data: z.string(), format: z.enum(['wav', 'mp3']) });
const url = z.union([z.string(), z.object({ url: z.string() }).transform((given) => given.url)]);

/** Parts with files, of both interfaces. */
const filePart = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['image_url', 'input_image']), image_url: url.optional() }).transform(({ image_url: image }) => {
    return image === undefined ? notUploaded : readFileData(image);
  }),
  z.object({ type: z.literal('input_audio'), input_audio: audio }).transform(({ input_audio: { data, format } }) => {
    return readFileData(data, { type: format === 'wav' ? 'audio/wav' : 'audio/mpeg', name: `audio.${format}` });
  }),
  z.object({ type: z.literal('file'), file: z.object(fileData) }).transform(({ file }) => namedFile(file)),
  z.object({ type: z.literal('input_file'), ...fileData }).transform(namedFile),
]);

const notUploaded: ReadFile = { problem: 'send the file itself, as a data URL; uploaded files and addresses are not known here' };

function namedFile({
  file_data: data,
  filename: name,
}: {
  file_data?: string | undefined;
  filename?: string | undefined;
}): ReadFile {
  return data === undefined ? notUploaded : readFileData(data, { name });
}

/** A text, or its parts. */
export const contentOf = z.unknown().transform((content, context): Content => {
  if (typeof content === 'string') return { text: content, files: [] };
  const wrong = (message: string, path: (string | number)[] = []): never => {
    context.addIssue({ code: 'custom', message, path });
    return z.NEVER;
  };
  if (!Array.isArray(content)) return wrong('use a text, or a list of parts with "type" and "text"');
  const texts: string[] = [];
  const files: IncomingFile[] = [];
  for (const [index, part] of content.entries()) {
    const text = textPart.safeParse(part);
    const file = text.success ? undefined : filePart.safeParse(part);
    if (text.success) texts.push(text.data);
    else if (!file?.success) return wrong('is not known; use a text, an image, a sound or a file', [index]);
    else if ('problem' in file.data) return wrong(file.data.problem, [index]);
    else files.push(file.data);
  }
  return { text: texts.join(''), files };
});

export const onlyUsers = "only the user's messages have images, sounds and files";

/** The same without files. */
export const textOf = contentOf.transform(({ text, files }, context): string => {
  if (files.length > 0) context.addIssue({ code: 'custom', message: onlyUsers });
  return text;
});
