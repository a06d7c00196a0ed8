import type { Principal } from '../../../shared/domain/access/access.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { isErasure } from '../../../shared/domain/session/chain.ts';
import { ChainWatch } from '../../../shared/domain/session/chain-watch.ts';
import type { EventFrames } from '../context/event-frames.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { noSuchSession } from '../context/history.ts';
import { afterCommit, type Cursor, type EventFilter, isAfter, logPosition, wantsKey, wantsType } from '../http/cursor.ts';
import { type VisibleDelta, visibleText } from '../runs/live-text.ts';

/** A reader of events: who, what and from where, for every protocol. */
export interface EventReader {
  readonly principal: Principal;
  /** One session, or all that the principal may see. */
  readonly key?: SessionKey | undefined;
  readonly filter: EventFilter;
  /** Starts after this event, and after the sequence `seen`. */
  readonly cursor: Cursor;
  readonly seen: number;
  readonly signal: AbortSignal;
}

/** Takes one event's frame and its position; `false`: the reader is gone or too slow. */
type TakeFrame = (text: string, cursor: Cursor) => boolean | Promise<boolean>;

/**
 * Delivers events as they are recorded, checking access for each commit (A8/89), with a gap where history was erased (C9) and a note where the
 * store has lost some (F13), whatever the filter. Of one session every loss shows, of all those that the feed saw in this process.
 * Resolves when the signal aborts or a frame is not taken. Throws `noSuchSession()` once the reader may no longer see the one session.
 */
export const followEvents = async (
  { feed, access }: GatewayContext,
  frames: EventFrames,
  { principal, key, filter, cursor, seen, signal }: EventReader,
  take: TakeFrame,
): Promise<void> => {
  const after = Math.max(seen, logPosition(cursor));
  const chain = new ChainWatch(1);
  if (key && after === 0) chain.begin(key);
  for await (const commit of feed.follow({ after, signal, ...(key && { key }) })) {
    if (!wantsKey(filter, commit.key)) continue;
    if (!(await access.shows(principal, commit))) {
      if (key) throw noSuchSession();
      continue;
    }
    const gap = (key ? chain.take(commit) : null) ?? feed.gapBefore(commit);
    if (gap !== null && isAfter(cursor, commit.seq, 0)) {
      const place = afterCommit(commit.seq - 1);
      if (!(await take(frames.damage(commit, gap, place), place))) return;
    }
    if (isErasure(commit) && isAfter(cursor, commit.seq, 0)) {
      // The gap comes before its event, and in its place if the filter hides that.
      const isHidden = !wantsType(filter, 'session_deleted');
      const place = isHidden ? { seq: commit.seq, index: 0 } : afterCommit(commit.seq - 1);
      if (!(await take(frames.gap(commit, place), place))) return;
    }
    for (const { index, type, text } of frames.of(commit)) {
      if (!isAfter(cursor, commit.seq, index) || !wantsType(filter, type)) continue;
      if (!(await take(text, { seq: commit.seq, index }))) return;
    }
  }
};

/** A piece of live text with its session. */
export type SessionText = VisibleDelta & { readonly key: SessionKey };

/** Live text, which cannot be resumed: the recorded message is the truth. Ends as `followEvents`; a failure is logged. */
export const followText = async (
  { ports, access, log }: GatewayContext,
  { principal, key, signal }: { principal: Principal; key: SessionKey; signal: AbortSignal },
  take: (text: SessionText) => boolean | Promise<boolean>,
): Promise<void> => {
  const visible = visibleText((turnId) => access.showsText(principal, key, turnId));
  try {
    for await (const delta of ports.live.subscribe(key, signal)) {
      const seen = visible(delta);
      if (seen !== null && !(await take({ key, ...seen }))) return;
    }
  } catch (error) {
    log.warn({ err: error }, 'live text of a stream ended');
  }
};
