import { personOf } from '../../../shared/domain/access/access.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Caller } from '../commands/envelope.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import type { Call } from '../operation/operation.ts';

/** Which sessions have something that a person has not seen (B24). */

type Reading = Pick<GatewayContext, 'access' | 'callers' | 'ports' | 'readMarks'>;

/**
 * The person behind a token, as marks name them: whom it speaks for, else the token itself. All pages that were opened with one token are one
 * person's.
 */
const readerOf = ({ access, callers }: Reading, { actor, principal }: Caller): string => {
  const person = personOf(principal);
  return person === undefined ? (callers.issuedTo(actor)?.parent?.actor ?? actor) : access.identities.resolve(person);
};

/** The sequence of a session's last message; 0 without one. */
const lastMessageSeq = ({ lastMessageId = '0' }: Pick<IndexRow, 'lastMessageId'>): number => Number.parseInt(lastMessageId, 10);

/** Whether a session has a message after a mark, and not an old one: its row knows when its last interaction was, which a message is. */
const isUnread = (row: IndexRow, markedSeq: number, now: number): boolean =>
  lastMessageSeq(row) > markedSeq && now - row.interactedAt < limits.unreadMs;

/** Whether the caller has not seen a session's last message. While the marks cannot be loaded, none is unread: lists do without. */
export const unreadFor = async (context: Reading, caller: Caller): Promise<(row: IndexRow) => boolean> => {
  const view = await context.readMarks.view().catch(() => null);
  if (view === null) return () => false;
  const reader = readerOf(context, caller);
  const now = context.ports.clock.now();
  return (row) => isUnread(row, view.seqOf(reader, row.key), now);
};

/** What the caller has seen of a session. */
export interface ReadMarking {
  readonly key: SessionKey;
  /** Nothing of it, instead of all until now. */
  readonly unread: boolean;
}

/** Notes for the caller alone that they have seen the session, or have not. Changes nothing in its log. Throws `noSuchSession()`. */
export const markRead = async ({ context, caller }: Call, { key, unread }: ReadMarking) => {
  const { row } = await context.access.read(caller.principal, key);
  const person = readerOf(context, caller);
  const seq = unread ? 0 : lastMessageSeq(row);
  const view = await context.readMarks.view();
  if (view.seqOf(person, row.key) !== seq) {
    await context.ports.readMarks.put({ person, key: row.key, seq });
    await view.refresh();
  }
  return { key: row.key, unread: isUnread(row, seq, context.ports.clock.now()) };
};
