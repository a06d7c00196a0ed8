import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { sessionIdsOf } from '../../../shared/domain/projections/session-ids.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { pageOf } from '../context/history.ts';
import { type Cursor, isAfter, logPosition } from '../http/cursor.ts';
import type { Call } from '../operation/operation.ts';

export interface MessageRange {
  readonly key: SessionKey;
  readonly after?: Cursor | undefined;
  readonly limit: number;
}

/** A page of what was said in a session that the caller may see, oldest first. */
export const readMessages = async ({ context, caller }: Call, { key, after = { seq: 0, index: -1 }, limit }: MessageRange) => {
  const seen = await context.access.read(caller.principal, key);
  const from = Math.max(seen.after, logPosition(after));
  const page = await pageOf(context.ports.events, { after, limit, from, key }, (commit) => messagesAfter(after, commit));
  return { messages: page.items, next: page.next, more: page.more };
};

/** The message in an event; `null` for other events. */
const messageIn = (event: SessionEvent): object | null => {
  switch (event.type) {
    case 'user_message': {
      const { messageId, text, sender } = event.message;
      return { role: 'user', messageId, text, sender, ...(event.turnId !== undefined && { runId: event.turnId }) };
    }
    case 'assistant_message':
      return { role: 'assistant', messageId: event.messageId, text: event.text, runId: event.turn.id };
    default:
      return null;
  }
};

/** The messages of a commit after a cursor. A message has the `id` of its event. */
const messagesAfter = (after: Cursor, commit: RecordedCommit): { cursor: Cursor; item: object }[] => {
  const { seq, at } = commit;
  const sessionIds = sessionIdsOf(commit);
  return commit.events.flatMap((event, index) => {
    const said = isAfter(after, seq, index) ? messageIn(event) : null;
    return said === null
      ? []
      : [{ cursor: { seq, index }, item: { id: `${seq}.${index}`, seq, at, sessionId: sessionIds[index], ...said } }];
  });
};
