import { Temporal } from 'temporal-polyfill';
import type { Config } from '../config/schema.ts';
import { type ParsedKey, parseKey, resetTypeOf } from '../keys/session-key.ts';
import type { IndexRow } from '../projections/index-row.ts';
import { channelOf } from '../projections/list-channel.ts';
import { channelNameOf } from '../values/channel-name.ts';
import { type Expiry, type ResetCause, staleness } from '../values/expiry.ts';

/**
 * When sessions expire (A4/43–52, C4). Pure: time zone rules come with the runtime, the time comes from the caller. All times in
 * ms.
 */

type Session = Config['session'];

/** What a policy depends on: the type of the conversation (A4/51; a thread does not count as a group) and its channel (A4/52). */
export interface ResetScope {
  readonly type: 'dm' | 'group' | 'thread';
  readonly channel?: string | undefined;
}

/**
 * The policy in force: a daily reset at a local hour, an idle window, or both. `rule` names the part of the configuration it
 * comes from.
 */
export interface ResetRule {
  readonly rule: string;
  readonly policy: { readonly atHour?: number; readonly idleMinutes?: number };
}

/** The default idle window of mode `idle` (C4), in minutes. */
const usualIdleMinutes = 60;
const usualHour = 4;

/**
 * The policy for a conversation: its channel's, else its type's, else `session.reset`, else daily at 04:00 (A4/44, 50–52). A
 * policy replaces those behind it as a whole. The older `session.idleMinutes` means idle only when it stands alone; beside
 * `reset` or `resetByType` it is the idle window of policies that set none (A4/48).
 */
export const policyFor = (session: Session, { type, channel: given }: ResetScope): ResetRule => {
  const channel = given === undefined ? undefined : channelNameOf(given);
  const { reset, resetByType, resetByChannel, idleMinutes: olderIdleMinutes } = session;
  const ofChannel = channel !== undefined && Object.hasOwn(resetByChannel, channel) ? resetByChannel[channel] : undefined;
  if (ofChannel) return { rule: `session.resetByChannel.${channel}`, policy: resolved(ofChannel, undefined) };
  const ofType = resetByType[type];
  if (ofType) return { rule: `session.resetByType.${type}`, policy: resolved(ofType, olderIdleMinutes) };
  if (reset) return { rule: 'session.reset', policy: resolved(reset, olderIdleMinutes) };
  if (olderIdleMinutes !== undefined && Object.keys(resetByType).length === 0) {
    return { rule: 'session.idleMinutes', policy: { idleMinutes: olderIdleMinutes } };
  }
  return { rule: 'session.reset (default)', policy: resolved({ mode: 'daily', atHour: usualHour }, olderIdleMinutes) };
};

const resolved = (
  { mode, atHour, idleMinutes }: NonNullable<Session['reset']>,
  olderIdleMinutes: number | undefined,
): ResetRule['policy'] => {
  const idle = idleMinutes ?? olderIdleMinutes ?? (mode === 'idle' ? usualIdleMinutes : undefined);
  return { ...(mode === 'daily' && { atHour }), ...(idle !== undefined && { idleMinutes: idle }) };
};

/** From one daily reset time to the next: `from <= at < until`. */
interface Day {
  readonly from: number;
  readonly until: number;
}

/**
 * The day around `at` that starts at `atHour`:00 in an IANA zone. It follows the zone's rules instead of adding 24 hours. An hour
 * that a clock change skips counts as the first instant after the gap; of a repeated hour the first one counts (F16).
 */
export const dayAround = (at: number, atHour: number, zone: string): Day => {
  const today = Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(zone).toPlainDate();
  // A clock set back across midnight can have shown tomorrow's reset time already, hence two days ahead.
  const starts = [-1, 0, 1, 2].map((days) => startOf(today.add({ days }), atHour, zone));
  const from = starts.findLast((start) => start <= at) ?? Number.NEGATIVE_INFINITY;
  const until = starts.find((start) => start > at) ?? Number.POSITIVE_INFINITY;
  return { from, until };
};

const startOf = (date: Temporal.PlainDate, atHour: number, zone: string): number => {
  const local = date.toPlainDateTime({ hour: atHour });
  const start = local.toZonedDateTime(zone, { disambiguation: 'earlier' });
  const skipped = !start.toPlainDateTime().equals(local);
  return ((skipped ? start.getTimeZoneTransition('next') : null) ?? start).epochMilliseconds;
};

const expiryUnder = ({ rule, policy: { idleMinutes } }: ResetRule, boundaryAt: number | undefined): Expiry => ({
  rule,
  // Times start in 1970; before its first reset time nothing can be stale.
  ...(boundaryAt !== undefined && { dailyBoundaryAt: Math.max(0, boundaryAt) }),
  ...(idleMinutes !== undefined && { idleMinutes }),
});

/**
 * Returns a function that gives the expiry for a message time. It caches the last result, which is the same for all messages of a
 * day.
 */
const expiring = (ruling: ResetRule, zone: string): ((at: number) => Expiry) => {
  const { atHour } = ruling.policy;
  let expiry = expiryUnder(ruling, undefined);
  if (atHour === undefined) return () => expiry;
  let day: Day = { from: 0, until: 0 };
  return (at) => {
    if (at < day.from || at >= day.until) {
      day = dayAround(at, atHour, zone);
      expiry = expiryUnder(ruling, day.from);
    }
    return expiry;
  };
};

const createExpiry = (session: Session): ((place: ResetScope, at: number) => Expiry) => {
  const under = (place: ResetScope) => expiring(policyFor(session, place), session.timeZone ?? 'UTC');
  const byType = { dm: under({ type: 'dm' }), group: under({ type: 'group' }), thread: under({ type: 'thread' }) };
  const channels = Object.keys(session.resetByChannel);
  const byChannel = new Map(channels.map((channel) => [channel, under({ type: 'dm', channel })]));
  return ({ type, channel = '' }, at) => (byChannel.get(channelNameOf(channel)) ?? byType[type])(at);
};

/** One cache per configuration object. It only memoises a pure function. */
const expiries = new WeakMap<Session, ReturnType<typeof createExpiry>>();

/** The expiry that a command at `at` carries, for the session to decide on (A4/43). */
export const expiryFor = (session: Session, place: ResetScope, at: number): Expiry => {
  const known = expiries.get(session);
  if (known) return known(place, at);
  const expiryOf = createExpiry(session);
  expiries.set(session, expiryOf);
  return expiryOf(place, at);
};

/** Each run of a cron job starts a new session, whatever the policy (A4/57). */
export const isolatedCron: Expiry = { rule: 'isolated cron job', isolated: true };

export type Freshness = { readonly fresh: true } | { readonly fresh: false; readonly cause: ResetCause };

/** Whether a session last used at `lastUpdateAt` is fresh at `now`; if not, by which rule and since when (A4/45–47). */
export const freshness = (ruling: ResetRule, lastUpdateAt: number, now: number, zone: string): Freshness => {
  const { atHour } = ruling.policy;
  const boundaryAt = atHour === undefined ? undefined : dayAround(now, atHour, zone).from;
  const cause = staleness(expiryUnder(ruling, boundaryAt), lastUpdateAt, now);
  return cause === null ? { fresh: true } : { fresh: false, cause };
};

/** When a session becomes stale if nobody writes any more. `due`: it is stale already, so the next message starts a new one. */
export interface NextReset {
  readonly rule: string;
  readonly dailyAt?: number;
  readonly idleAt?: number;
  readonly due: boolean;
}

/** The next expected resets of a session last used at `interactedAt`. */
export const nextReset = (session: Session, place: ResetScope, interactedAt: number, now: number): NextReset => {
  const zone = session.timeZone ?? 'UTC';
  const ruling = policyFor(session, place);
  const { atHour, idleMinutes } = ruling.policy;
  return {
    rule: ruling.rule,
    ...(atHour !== undefined && { dailyAt: dayAround(interactedAt, atHour, zone).until }),
    ...(idleMinutes !== undefined && { idleAt: interactedAt + idleMinutes * 60_000 }),
    due: !freshness(ruling, interactedAt, now, zone).fresh,
  };
};

type Used = Pick<IndexRow, 'key' | 'generation' | 'interactedAt' | 'activeTurnId' | 'lastRoute' | 'origin'>;

/** `timeZone` applies to the daily hour. */
type ZonedReset = NextReset & { readonly timeZone: string };

const resetIn = (row: Used, session: Session, now: number, scopeOf: (parsed: ParsedKey) => ResetScope): ZonedReset => {
  const timeZone = session.timeZone ?? 'UTC';
  const parsed = parseKey(row.key, session.mainKey);
  if (parsed.kind === 'cron') return { rule: isolatedCron.rule, due: true, timeZone };
  const next = nextReset(session, scopeOf(parsed), row.interactedAt, now);
  // Where no message has come there is nothing to reset: only a chat command was answered.
  if (row.generation === 0) return { rule: next.rule, due: false, timeZone };
  // A session is not reset while its turn runs.
  return { ...next, due: next.due && row.activeTurnId === null, timeZone };
};

/** The next expected resets of a session, assuming that its next message comes by the channel of its last one. */
export const nextResetOf = (row: Used, session: Session, now: number): ZonedReset =>
  resetIn(row, session, now, (parsed) => ({
    type: resetTypeOf(parsed, row.origin.threadId),
    channel: channelOf(parsed, row),
  }));

/** The same, assuming that its next message comes by a call, which has no channel but the one in the key. */
export const nextResetByCall = (row: Used, session: Session, now: number): ZonedReset =>
  resetIn(row, session, now, (parsed) => ({ type: resetTypeOf(parsed, parsed.threadId), channel: parsed.channel }));

/** A time in the local form of a zone: `2026-03-08 04:00 Europe/Berlin`. */
export const localTime = (at: number, zone: string): string => {
  const local = Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(zone).toPlainDateTime();
  return `${local.toString({ smallestUnit: 'minute' }).replace('T', ' ')} ${zone}`;
};
