import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { orQuarantined } from '../../../shared/kit/or-quarantined.ts';
import type { CustodyLog, CustodyRecord, Outbound } from '../../../shared/ports/custody-log.ts';
import { comesAfter, sentCount } from '../../../shared/runtime/outgoing/custody.ts';
import { plan } from '../../../shared/runtime/outgoing/plan.ts';
import type { Cursor } from '../http/cursor.ts';
import type { Call } from '../operation/operation.ts';

/**
 * What became of the messages that a session has sent, by the delivery log. It is read from the commit on, in the conversation of the
 * message alone: the same work however long the log is.
 */

/** How far the clocks of the broker's servers may be apart, ms: a record is stored after the commit that it is about. */
const clocksApartMs = 60_000;
/** Records that are looked through at most: those of what was in front of a message in its conversation. */
const searchedRecords = 8 * limits.readCommits;

export interface EventQuery {
  readonly key: SessionKey;
  /** An event, or all of a commit. */
  readonly event: Cursor;
}

/** Throws `NatterError('not_found')`. */
const commitAt = async ({ context, caller }: Call, { key, event: { seq } }: EventQuery): Promise<RecordedCommit> => {
  const { access, ports } = context;
  const { after } = await access.read(caller.principal, key);
  const page = seq > after ? await orQuarantined(ports.events.page({ after: seq - 1, limit: 1, key })) : { commits: [] };
  const commit = page.commits.find((one) => one.seq === seq);
  if (commit !== undefined) return commit;
  throw new NatterError('not_found', 'event: the session has no such event; use the "id" of one', { field: 'event' });
};

/** The last record of an outbound. `null`: there is none yet; `undefined`: there is none any more. Throws `unavailable` while a replica lags. */
const recordOf = async (
  custody: CustodyLog,
  { id, target }: Outbound,
  recordedAt: number,
): Promise<CustodyRecord | null | undefined> => {
  const last = (await custody.last(target))?.record ?? null;
  if (last?.outboundId === id) return last;
  // A conversation is delivered in order: what comes after its last record was not begun.
  if (last === null || comesAfter(id, last.outboundId)) return null;
  let found: CustodyRecord | undefined;
  let searched = 0;
  for await (const record of custody.read(target, recordedAt - clocksApartMs)) {
    searched += 1;
    if (record.outboundId === id) found = record;
    if (comesAfter(record.outboundId, id) || searched === searchedRecords) return found;
  }
  throw new NatterError('unavailable', 'the delivery log cannot be read up to its end yet; try again');
};

const platformIds = ({ messageId, parts }: CustodyRecord): string[] =>
  [messageId, ...(parts?.done ?? [])].filter((id): id is string => typeof id === 'string');

/** What a record says of its message. A detail may quote a receiver, whose words are the owner's alone. */
export const custodyShown = (record: CustodyRecord, seesDetail: boolean) => {
  const { state, attempt, at, failure, notBefore, parts, detail } = record;
  return {
    ...{ state, attempt, at, messageIds: platformIds(record) },
    ...(parts && { parts: { sent: sentCount(parts), of: parts.cuts.length + 1 } }),
    ...(failure && { failure }),
    ...(notBefore !== undefined && { notBefore }),
    ...(seesDetail && detail !== undefined && { detail }),
  };
};

/** Of a message that delivery has not come to yet, and of one whose record is gone. */
const notBegun = { state: 'prepared', attempt: 0, messageIds: [] } as const;
const forgotten = { ...notBegun, state: 'unknown', detail: 'the delivery log has no record of it any more' } as const;

/** Throws `NatterError('not_found')`. A detail may quote a receiver, whose words are the owner's alone. */
export const readSessionDeliveries = async (call: Call, query: EventQuery) => {
  const { ports, config } = call.context;
  const commit = await commitAt(call, query);
  const { seq, index } = query.event;
  const isMeant = ({ id }: Outbound): boolean => !Number.isFinite(index) || `${id}.`.startsWith(`${seq}.${index}.`);
  const outbounds = plan(commit, config.session.sendPolicy).filter(isMeant);
  const seesDetail = call.caller.principal.role === 'owner';
  const deliveries = await Promise.all(
    outbounds.map(async (outbound) => {
      const { id: outboundId, kind, target } = outbound;
      const record = await recordOf(ports.custody, outbound, commit.recordedAt);
      const became = record ? custodyShown(record, seesDetail) : record === null ? notBegun : forgotten;
      return { outboundId, kind, target, ...became };
    }),
  );
  return { deliveries };
};
