import { client } from '../base/signed-in.ts';
import type { SaidItem } from './chat-model.ts';

/** A message of ours that no event has told of yet. */
export interface Outgoing {
  readonly messageId: string;
  readonly text: string;
  readonly files: readonly File[];
  readonly at: number;
  readonly problem: string | null;
}

export const newMessageId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** How long a message with files may be on its way, ms: a line can be slow. */
const uploadMs = 300_000;

/** Posts a message. The same one again is one message. */
export const postOutgoing = async (key: string, one: Pick<Outgoing, 'messageId' | 'text' | 'files'>): Promise<void> => {
  const { messageId, text, files } = one;
  if (files.length === 0) {
    await client.sessions.post(key, { text, messageId }, { idempotencyKey: messageId });
    return;
  }
  const { postedFiles } = await import('../files/posted-files.ts');
  const attachments = await postedFiles(files);
  await client.sessions.post(key, { text, messageId, attachments }, { idempotencyKey: messageId, timeoutMs: uploadMs });
};

/** The files of a message, to be sent again. Throws where one is gone. */
export const filesOf = async (key: string, { attachments = [] }: SaidItem): Promise<File[]> =>
  attachments.length === 0 ? [] : (await import('../files/posted-files.ts')).keptFiles(key, attachments);
