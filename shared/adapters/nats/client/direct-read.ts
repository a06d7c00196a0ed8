import type { Msg } from '@nats-io/transport-node';
import { NatterError } from '../../../kit/errors.ts';
import { limits } from '../../../kit/limits.ts';
import { detachedString } from '../../../kit/text/detached-string.ts';
import type { MessageBatch, StoredMessage } from '../../streams/stored-message.ts';
import { countHeader, headerText, lastHeader } from './header-text.ts';
import type { ReplyInbox } from './reply-inbox.ts';
import { fenceHeader } from './send-once.ts';

export interface BatchRequest {
  readonly stream: string;
  /** Only messages with a greater sequence. */
  readonly after?: number;
  /** In its place: only messages that were stored at this time or later, ms. */
  readonly storedFrom?: number;
  /** Only messages of this subject, which may have wildcards. */
  readonly subject?: string;
  /** At most this many. */
  readonly count: number;
  readonly timeoutMs: number;
}

/**
 * One direct read (ADR-31 of NATS): up to `count` messages and about 4 MB, from any replica, so it may lag behind the leader. The
 * result has no gap: each reply names the previous sequence, and from the first mismatch on the rest is left to the next read.
 * Rejects with the client's error, or with `unavailable` when not even the first message arrived.
 */
export const readBatch = async (inbox: ReplyInbox, request: BatchRequest): Promise<MessageBatch> => {
  const { stream, after = 0, storedFrom, subject, count, timeoutMs } = request;
  const messages: StoredMessage[] = [];
  let more = false;
  const take = (reply: Msg): boolean => {
    const header = headerText(reply);
    const fields = fieldsOf(header);
    const whole = fields.previous === (messages.at(-1)?.seq ?? 0);
    if (fields.seq === 0) {
      const status = reply.headers?.code ?? 0;
      if (status === endOfBatch) more = fields.pending > 0 || !whole;
      else if (status !== noSuchMessage) throw refused(stream, reply);
      return true;
    }
    more = true;
    const data = isStrayAnswer(header, 1) ? nothing : reply.data;
    if (whole) messages.push({ subject: fields.subject, seq: fields.seq, time: fields.time, data });
    return !whole;
  };
  const start = storedFrom === undefined ? { seq: after + 1 } : { start_time: new Date(storedFrom).toISOString() };
  const query = { ...start, batch: count, max_bytes: limits.readBytes, ...(subject && { next_by_subj: subject }) };
  try {
    await inbox.request(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(query), { timeoutMs }, take);
  } catch (error) {
    if (messages.length === 0) throw error;
  }
  if (more && messages.length === 0)
    throw new NatterError('unavailable', `the broker's answer to a read of ${stream} was cut off`);
  return { messages, more };
};

/** A stored message, and the sequence that it was fenced with: that of the key's commit before it, 0 for the first; `null`: none is known. */
export interface FencedMessage extends StoredMessage {
  readonly previous: number | null;
}

/** One direct read of the message with this sequence, with what it was fenced with; `null` if there is none. Rejects as `readBatch`. */
export const readOne = async (
  inbox: ReplyInbox,
  { stream, seq, timeoutMs }: { readonly stream: string; readonly seq: number; readonly timeoutMs: number },
): Promise<FencedMessage | null> => {
  let found: FencedMessage | null = null;
  await inbox.request(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify({ seq }), { timeoutMs }, (reply) => {
    const header = headerText(reply);
    const fields = fieldsOf(header);
    if (fields.seq !== 0) found = { ...fields, previous: fenceOf(header), data: isStrayAnswer(header, 1) ? nothing : reply.data };
    else if (reply.headers?.code !== noSuchMessage) throw refused(stream, reply);
    return true;
  });
  return found;
};

/**
 * True for a stored message that is the broker's answer to somebody's direct read. The broker answers to whatever subject is asked
 * for, and does not look whether the asker may publish there (2.15.1): who may write and read one stream can have its bytes stored in
 * any other. Such a message has the headers of that answer, besides the `own` ones that a direct read puts on it now. No message of
 * ours has them. It counts as empty: nobody has written it (ADR 19).
 */
export const isStrayAnswer = (header: string, own: 0 | 1): boolean => countHeader(header, 'Nats-Stream') > own;
export const nothing = new Uint8Array();

const endOfBatch = 204;
const noSuchMessage = 404;

const refused = (stream: string, { headers }: Msg): NatterError =>
  new NatterError('unavailable', `the broker answered a read of ${stream} with ${headers?.code} ${headers?.description}`);

/** With two of them the broker has looked at the first. */
const fenceOf = (header: string): number | null => {
  const value = countHeader(header, fenceHeader) === 1 ? lastHeader(header, fenceHeader) : '';
  return /^\d+$/.test(value) ? Number(value) : null;
};

/** The broker's own header fields. */
const fieldsOf = (header: string) => ({
  // Kept longer than the rest of the header.
  subject: detachedString(lastHeader(header, 'Nats-Subject')),
  seq: Number(lastHeader(header, 'Nats-Sequence')),
  previous: Number(lastHeader(header, 'Nats-Last-Sequence')),
  pending: Number(lastHeader(header, 'Nats-Num-Pending')),
  time: Date.parse(lastHeader(header, 'Nats-Time-Stamp')),
});
