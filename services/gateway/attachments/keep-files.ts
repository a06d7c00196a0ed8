import type { Config } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { type KeptAttachment, problemOfFiles } from '../../../shared/domain/values/attachment.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import type { IncomingFile } from './incoming-file.ts';

const megabyte = 1024 * 1024;

/** Bytes of a request with files: programs send those of earlier messages again, in base64. */
export const filesBodyBytes = ({ attachments: { maxMegabytes } }: Config): number =>
  limits.commandBytes + Math.ceil((2 * maxMegabytes * megabyte * 4) / 3);

/** Checks the files of one message. Throws `NatterError('invalid')` and `'too_large'` that name the field. */
export const checkFiles = ({ attachments }: Config, files: readonly IncomingFile[], field: string): void => {
  const problem = problemOfFiles(
    attachments,
    files.map(({ name, type, content }) => ({ name, type, bytes: content.length })),
  );
  if (problem) throw new NatterError(problem.code, `${field}: ${problem.text}`, { field });
};

/** Resolves once all of them are stored for good, for this session. */
export const keepFiles = async (
  { ports }: Pick<GatewayContext, 'ports'>,
  key: SessionKey,
  files: readonly IncomingFile[],
): Promise<KeptAttachment[]> => {
  const kept: KeptAttachment[] = [];
  for (const { type, name, content } of files) {
    const digest = await ports.attachments.put(key, content);
    kept.push({ ...(name !== undefined && { name }), type, bytes: content.length, digest });
  }
  return kept;
};

/** The command with the files in its message, which are stored before it is. Throws `NatterError('invalid')` if it has no message. */
export const withKeptFiles = async (
  context: Pick<GatewayContext, 'ports'>,
  envelope: CommandEnvelope,
  files: readonly IncomingFile[] = [],
): Promise<CommandEnvelope> => {
  if (files.length === 0) return envelope;
  const { data, key } = envelope;
  if (!('message' in data) || data.message === undefined) {
    throw new NatterError('invalid', 'attachments: a chat command takes none; send them with a message', {
      field: 'attachments',
    });
  }
  const attachments = await keepFiles(context, key, files);
  return { ...envelope, data: { ...data, message: { ...data.message, attachments } } as typeof data };
};
