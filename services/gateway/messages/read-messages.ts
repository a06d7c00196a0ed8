import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { Revision } from '../../../shared/domain/projections/row-parts.ts';
import { sessionIdsOf } from '../../../shared/domain/projections/session-ids.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { orQuarantined } from '../../../shared/kit/or-quarantined.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { type PageRange, pageOf } from '../history/page-of.ts';
import { type Cursor, isAfter } from '../http/cursor.ts';
import type { Call } from '../operation/operation.ts';

export interface MessageRange extends PageRange {
  readonly key: SessionKey;
}

/** A page of what was said in a session that the caller may see, oldest first, or newest first in front of `before`. */
export const readMessages = async ({ context, caller }: Call, { key, ...range }: MessageRange) => {
  const { row, after: since } = await context.access.read(caller.principal, key);
  const { items, next, more } = await pageOf(context.ports.events, { ...range, key, last: row, since }, messagesAfter);
  const messages = await revised(context, key, items, row.revisions ?? []);
  return { messages, next, more };
};

/** The messages as they count now: with the text of their last edit, and without those that were withdrawn. */
const revised = async (
  { ports }: GatewayContext,
  key: SessionKey,
  messages: readonly Said[],
  revisions: readonly Revision[],
): Promise<Said[]> => {
  const seqs = new Map(revisions.map(({ of, seq }) => [of, seq]));
  const all = messages.map(async (message): Promise<Said | null> => {
    const seq = seqs.get(message.id);
    if (seq === undefined) return message;
    const { commits } = await orQuarantined(ports.events.page({ after: seq - 1, limit: 1, key }));
    const event = commits[0]?.events.find((each) => 'of' in each && each.of === message.id);
    if (event?.type === 'message_withdrawn') return null;
    return event?.type === 'message_edited' ? { ...message, text: event.text, editedAt: commits[0]?.at } : message;
  });
  return (await Promise.all(all)).filter((message) => message !== null);
};

/** A message as it is answered. */
interface Said {
  readonly id: string;
  readonly text?: string;
  readonly editedAt?: number | undefined;
}

/** The message in an event; `null` for other events. */
const messageIn = (event: SessionEvent): object | null => {
  switch (event.type) {
    case 'user_message': {
      const { messageId, text, sender, attachments, replyTo } = event.message;
      const run = event.turnId !== undefined && { runId: event.turnId };
      return {
        role: 'user',
        messageId,
        text,
        sender,
        ...run,
        ...(attachments && { attachments }),
        ...(replyTo !== undefined && { replyTo }),
      };
    }
    case 'assistant_message':
      return { role: 'assistant', messageId: event.messageId, text: event.text, runId: event.turn.id };
    default:
      return null;
  }
};

/** The messages of a commit after a cursor. A message has the `id` of its event. */
const messagesAfter = (commit: RecordedCommit, after: Cursor): { cursor: Cursor; item: Said }[] => {
  const { seq, at } = commit;
  const sessionIds = sessionIdsOf(commit);
  return commit.events.flatMap((event, index) => {
    const said = isAfter(after, seq, index) ? messageIn(event) : null;
    return said === null
      ? []
      : [{ cursor: { seq, index }, item: { id: `${seq}.${index}`, seq, at, sessionId: sessionIds[index], ...said } }];
  });
};
