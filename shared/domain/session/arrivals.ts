import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { detachedString } from '../../kit/text/detached-string.ts';
import { isRoutedId } from '../keys/routed-id.ts';
import type { RecordedCommit } from './envelope.ts';
import { type AskedCall, callAttempt, withAskedCall } from './repeats/asked-calls.ts';
import { type IdMemory, withIds } from './repeats/id-memory.ts';
import { type OrderWindow, withOrder } from './repeats/order-windows.ts';

/** A message from a platform, which it may report as edited or deleted. `id` is that of its command, `of` that of its event. */
export interface Revisable {
  readonly id: string;
  readonly of: string;
  readonly messageId: string;
  /** Its sender, as a principal. */
  readonly by: string;
}

/** What a session remembers of what arrived: how a repeat is known, and which messages can still be revised (I2, D9). */
export interface Arrivals {
  /** The last command and message ids, oldest first, bounded. */
  readonly recentIds: readonly string[];
  /** The ids before those, bounded. */
  readonly olderIds: IdMemory;
  /** The highest order numbers of each source, least recently used source first, bounded (D9). */
  readonly orders: readonly OrderWindow[];
  /** The last messages that may still be edited or withdrawn, oldest first, bounded. */
  readonly revisable: readonly Revisable[];
  /** The last calls whose clients count their attempts, oldest first, bounded. */
  readonly calls: readonly AskedCall[];
}

export const noArrivals: Arrivals = { recentIds: [], olderIds: [], orders: [], revisable: [], calls: [] };

/** As it stands in a snapshot, and in the commit of a repair. */
export const arrivals = z.object({
  recentIds: z.array(z.string()),
  olderIds: z.array(z.string()),
  orders: z.array(z.object({ source: z.string(), numbers: z.string() })),
  revisable: z.array(z.object({ id: z.string(), of: z.string(), messageId: z.string(), by: z.string() })),
  calls: z.array(callAttempt.extend({ id: z.string(), at: z.number() })),
}) satisfies z.ZodType<Arrivals, unknown>;

/** What a commit that starts anew hands on: nothing after an erasure, what was still known then after a repair (F13). */
export const arrivalsHandedOn = ({ events: [first] }: Pick<RecordedCommit, 'events'>): Arrivals =>
  (first?.type === 'history_damaged' ? first.arrivals : undefined) ?? noArrivals;

/**
 * The ids that a commit makes known: those of its messages, and its command's unless the host itself made the command. The platform's id of a
 * routed message is part of its command's.
 */
const idsOf = ({ command, events }: RecordedCommit): string[] => {
  const ids = new Set(command.seq === null ? [] : [command.id]);
  for (const event of isRoutedId(command.id) ? [] : events) {
    if (event.type === 'user_message') ids.add(event.message.messageId);
    if (event.type === 'message_refused') ids.add(event.messageId);
  }
  return Array.from(ids, detachedString);
};

/** The messages of a commit that its platform may edit or delete; a withdrawn one is gone. */
const revisableAfter = (
  before: Arrivals['revisable'],
  { seq, command: { id }, events }: RecordedCommit,
): Arrivals['revisable'] => {
  const gone = events.find((event) => event.type === 'message_withdrawn')?.of;
  const kept = gone === undefined ? before : before.filter(({ of }) => of !== gone);
  if (!isRoutedId(id)) return kept;
  const more = events.flatMap((event, index): Revisable[] => {
    if (event.type !== 'user_message') return [];
    const { messageId, sender } = event.message;
    const by = detachedString(sender.principal ?? sender.id);
    return [{ id: detachedString(id), of: `${seq}.${index}`, messageId: detachedString(messageId), by }];
  });
  return more.length === 0 ? kept : [...kept, ...more].slice(-limits.revisableMessages);
};

/** What is known of arrivals, so that a repeat is recognised (I2, D9). */
export const arrivalsAfter = ({ recentIds, olderIds, orders, revisable, calls }: Arrivals, commit: RecordedCommit): Arrivals => {
  const { id, order, call } = commit.command;
  const ids = [...recentIds, ...idsOf(commit)];
  return {
    recentIds: ids.length === recentIds.length ? recentIds : ids.slice(-limits.recentIds),
    olderIds: withIds(olderIds, ids.slice(0, -limits.recentIds)),
    revisable: revisableAfter(revisable, commit),
    orders: order === undefined ? orders : withOrder(orders, order),
    calls: call === undefined ? calls : withAskedCall(calls, { ...call, id, at: commit.at }),
  };
};
