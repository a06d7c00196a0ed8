import { limits } from '../../kit/limits.ts';
import { isTextFile, kindOfFile } from '../values/media-type.ts';
import type { ConversationMessage } from './conversation-message.ts';
import type { ModelFile, ModelMessage, ModelRequest } from './model-request.ts';

/** Input tokens of a file, roughly: an image as large as providers make it, a minute of speech, a page of a document. */
export const fileTokens = ({ type, bytes }: Pick<ModelFile, 'type' | 'bytes'>): number => {
  switch (kindOfFile(type)) {
    case 'image':
      return 1_600;
    case 'audio':
      return Math.ceil(bytes / 800);
    case 'pdf':
      return 2_000 + Math.ceil(bytes / 50);
    case null:
      return Math.ceil(bytes / 4);
  }
};

/** The message with those of its files of which `whyNot` is `null`. It says of the others that they are not seen, and why. */
export const withFilesIf = <M extends ModelMessage>(message: M, whyNot: (file: ModelFile) => string | null): M => {
  if (message.role !== 'user' || message.files === undefined) return message;
  const { files, ...rest } = message;
  const judged = files.map((file) => ({ file, why: whyNot(file) }));
  const given = judged.flatMap(({ file, why }) => (why === null ? [file] : []));
  const notes = judged.flatMap(({ file, why }) => (why === null ? [] : [`[You cannot see ${file.name ?? 'the file'}: ${why}.]`]));
  return { ...rest, text: [message.text, ...notes].join('\n'), ...(given.length > 0 && { files: given }) } as M;
};

/** Without any file, and the reason. */
export const withoutFiles = (request: ModelRequest, why: string): ModelRequest => ({
  ...request,
  messages: request.messages.map((message) => withFilesIf(message, () => why)),
});

/** A request as another model of a list of fallbacks was meant to get it, without the files that this one does not take. */
export const withFilesTaken = (request: ModelRequest, takes: (type: string) => boolean): ModelRequest => ({
  ...request,
  messages: request.messages.map((message) =>
    withFilesIf(message, ({ type }) => (isTextFile(type) || takes(type) ? null : untaken(type))),
  ),
});
const untaken = (type: string): string => `you take no files of type ${type}`;

/** The conversation with the files that a model can be given: of a type that it takes, and the newest ones as far as they fit into a request. */
export const withFilesFor = (
  said: readonly ConversationMessage[],
  takes: (type: string) => boolean,
): readonly ConversationMessage[] => {
  const left = { files: limits.requestFiles, bytes: limits.requestFileBytes };
  const whyNot = ({ type, bytes }: ModelFile): string | null => {
    if (isTextFile(type)) {
      if (bytes > limits.textFileBytes) return `it is longer than ${limits.textFileBytes / 1_024} kB`;
    } else if (!takes(type)) return untaken(type);
    if (left.files < 1 || left.bytes < bytes) return 'there are too many newer ones';
    left.files -= 1;
    left.bytes -= bytes;
    return null;
  };
  // The newest first.
  return said
    .toReversed()
    .map((entry) => ({ ...entry, message: withFilesIf(entry.message, whyNot) }))
    .toReversed();
};
