import type { Session, SessionRow } from '../../../shared/client/main.ts';
import { forkVerb, restartWords, rewindNoun } from '../../../shared/domain/projections/rewind-words.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import type { ResetCause } from '../../../shared/domain/values/expiry.ts';

const words: Readonly<Record<Exclude<ResetCause['trigger'], 'command'>, string>> = {
  daily: 'Reset by the daily rule',
  idle: 'Reset after being idle',
  isolated: 'Reset: each message starts anew',
  fork: 'Forked',
  api: 'Reset over the API',
};

/** The reason of a reset that somebody asks for on the page. */
export const askedOnPage = 'asked for on the page';

/**
 * Why a generation began, in the same words wherever the page says it; with the limit that was passed, where the log has it. `by`: who asked
 * for it, as `by ann`.
 */
export const resetWords = ({ trigger, rule, boundaryAt, lastUpdateAt }: ResetCause, by?: string): string => {
  const restart = trigger === 'api' ? restartWords(rule) : null;
  if (restart !== null) return withBy(restart, by);
  if (by !== undefined && trigger === 'api') return `Reset ${by}`;
  if (trigger === 'command') return withBy(`Reset with ${rule}`, by);
  if (trigger === 'api' && rule === askedOnPage) return 'Reset on the page';
  return trigger === 'idle' && boundaryAt !== undefined && lastUpdateAt !== undefined
    ? `Reset after more than ${Math.round((boundaryAt - lastUpdateAt) / 60_000)} min idle`
    : words[trigger];
};

const withBy = (words: string, by: string | undefined): string => (by === undefined ? words : `${words} ${by}`);

/** Where a fork goes on from: the number that the commit has in its session; and who made it, as `by ann`. */
export const forkedFrom = (rev: number, reason?: string, by?: string): string =>
  withBy(`${forkVerb(reason)} from commit ${rev}`, by);

/** Why a generation began, of the event that it begins with. `by`: who recorded that, as `by ann`. */
export const generationWords = (event: EventOf<'session_opened' | 'session_reset'>, by?: string): string => {
  if (event.type === 'session_opened') return event.generation === 1 ? 'The session began' : 'The session began anew';
  if (event.forkedFrom) return forkedFrom(event.forkedFrom.rev, event.cause?.rule, by);
  return event.cause ? resetWords(event.cause, by) : `Reset: ${event.reason}`;
};

/** In place of the last message, where the session has none to quote. */
export const nothingSaid = ({ lastReset }: Pick<SessionRow, 'lastReset'>): string => {
  if (lastReset === undefined) return 'Nothing said yet';
  return `Nothing said since the ${lastReset.fromSeq === undefined ? 'reset' : 'fork'}`;
};

/** What ends a conversation, or leaves a part of it behind. */
type Leaver = EventOf<'session_reset' | 'session_deleted'>;
/** What left a part of the conversation behind, in the same words wherever the page says it. */
export const leaverWords = (event: Leaver): string => {
  if (event.type === 'session_deleted') return 'the deletion';
  return rewindNoun(event.cause?.rule) ?? (event.forkedFrom ? 'the fork' : 'the reset');
};

/** Whether a reset begins again from the first message: what was said is left behind as by a fork. */
export const isRestart = ({ cause, forkedFrom }: EventOf<'session_reset'>): boolean =>
  forkedFrom === undefined && cause !== undefined && restartWords(cause.rule) !== null;

/** What the agent knows of the conversation after a fork, as a clause. */
export const knownAfterFork = 'the agent knows the conversation up to there, and what was said since';

type Next = Session['nextReset'];
/** When the next reset is, or was due, and by which rule; `null`: none comes by itself. */
const firstOf = ({ dailyAt, idleAt }: Next): { readonly at: number; readonly isIdle: boolean } | null => {
  const at = Math.min(dailyAt ?? Number.POSITIVE_INFINITY, idleAt ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(at) ? { at, isIdle: at === idleAt } : null;
};

/** Whether the next message from this page begins anew: it comes by a call, for which the rule of a channel does not hold. */
export const startsAfresh = ({ nextResetByCall }: Pick<Session, 'nextResetByCall'>, now: number): boolean =>
  (firstOf(nextResetByCall)?.at ?? Number.POSITIVE_INFINITY) <= now;

/** What stands before the time of a reset. */
interface ResetTime {
  readonly words: string;
  readonly at: number;
}
const inWords = ({ at, isIdle }: NonNullable<ReturnType<typeof firstOf>>, now: number, ahead: string, due: string): ResetTime => {
  const words = isIdle ? `${ahead} if there are no messages before` : `${ahead} daily, next at`;
  return { at, words: at > now ? words : `${due}: its ${isIdle ? 'idle limit passed at' : 'daily reset was due at'}` };
};

/** The next resets of a session: for what is written on this page, and for the channel of its last message, where its rule is another. */
export const nextResets = (
  { nextReset, nextResetByCall, lastRoute }: Pick<Session, 'nextReset' | 'nextResetByCall' | 'lastRoute'>,
  now: number,
): readonly ResetTime[] => {
  const own = firstOf(nextResetByCall);
  const isSame = nextReset.rule === nextResetByCall.rule;
  const theirs = isSame ? null : firstOf(nextReset);
  const channel = lastRoute?.channel ?? 'its channel';
  const isDue = own !== null && own.at <= now;
  return [
    ...(own === null
      ? []
      : [inWords(own, now, 'Resets', isSame ? 'The next message starts afresh' : 'Your next message starts afresh')]),
    ...(theirs === null || isDue
      ? []
      : [inWords(theirs, now, `For ${channel}: resets`, `A message from ${channel} starts afresh, yours goes on`)]),
  ];
};

/** What the next message does to an archived session: it comes back, and perhaps starts afresh. `at`: from when on it does. */
export const whenBack = (
  { nextResetByCall }: Pick<Session, 'nextResetByCall'>,
  now: number,
): { readonly words: string; readonly at: number | null } => {
  const own = firstOf(nextResetByCall);
  const back = 'Archived: its next message brings it back';
  if (own === null) return { words: back, at: null };
  return own.at <= now ? { words: `${back}, and starts afresh`, at: null } : { words: `${back}, afresh after`, at: own.at };
};
