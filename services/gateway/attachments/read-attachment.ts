import type { FastifyReply } from 'fastify';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { isKept, type KeptAttachment } from '../../../shared/domain/values/attachment.ts';
import { isTextFile, kindOfFile } from '../../../shared/domain/values/media-type.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { readThrough } from '../../../shared/runtime/read-through.ts';
import type { Call } from '../operation/operation.ts';

/** An attachment and what is in it. */
export interface AttachmentContent {
  readonly attachment: KeptAttachment;
  readonly content: Uint8Array;
}

/**
 * The content of an attachment of a message that the caller may see, and that nobody has withdrawn. Throws `noSuchSession()` and
 * `NatterError('not_found')`.
 */
export const readAttachment = async (
  { context: { access, ports, replays }, caller }: Call,
  { key, digest }: { readonly key: SessionKey; readonly digest: string },
): Promise<AttachmentContent> => {
  const { row, after } = await access.read(caller.principal, key);
  const release = replays.acquire(caller.actor);
  try {
    const named = new Map<string, KeptAttachment>();
    for await (const commit of readThrough(ports, key, { after, through: row.seq })) note(commit, digest, named);
    const attachment = [...named.values()].at(-1);
    const content = attachment && (await ports.attachments.get(key, digest));
    if (attachment && content) return { attachment, content };
  } finally {
    release();
  }
  throw new NatterError('not_found', 'digest: no message of this session has such an attachment', { field: 'digest' });
};

/** The attachments of this digest, by the event that they came with. */
const note = ({ seq, events }: RecordedCommit, digest: string, named: Map<string, KeptAttachment>): void => {
  for (const [index, event] of events.entries()) {
    if (event.type === 'message_withdrawn') named.delete(event.of);
    if (event.type !== 'user_message') continue;
    const found = event.message.attachments?.find((one) => one.digest === digest);
    if (found && isKept(found)) named.set(`${seq}.${index}`, found);
  }
};

/** What a browser may show of somebody else's file: nothing that could be a page or a script. */
const shownType = (type: string): string => {
  if (kindOfFile(type) !== null) return type;
  return isTextFile(type) ? 'text/plain; charset=utf-8' : 'application/octet-stream';
};

/** Answers with the file, to be saved and not shown. */
export const sendAttachment = (reply: FastifyReply, { attachment, content }: AttachmentContent): FastifyReply => {
  const { name = attachment.digest.slice(0, 16), type, digest } = attachment;
  const plain = name.replaceAll(/[^\w.-]/g, '_');
  const whole = encodeURIComponent(name).replaceAll(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  return reply
    .header('content-disposition', `attachment; filename="${plain}"; filename*=UTF-8''${whole}`)
    .header('etag', `"${digest}"`)
    .type(shownType(type))
    .send(content);
};
