import { createHash } from 'node:crypto';
import { limits } from '../../kit/limits.ts';
import type { Config } from '../config/schema.ts';
import { isProgramSource, type ParsedKey, parseKey, resetTypeOf, type SessionKey } from '../keys/session-key.ts';
import { expiryFor, isolatedCron } from '../reset/reset.ts';
import type { Expiry } from '../values/expiry.ts';
import type { SessionSource } from '../values/types.ts';

/** What a message tells its session: a session id for a new one, its source, and when it expires (A3/41–42, A4/43, 57). */

/** The origin of a message, unless it comes from a program that names the key. */
export interface Arrival {
  /** ms since 1970, UTC. */
  readonly at: number;
  readonly channel?: string | undefined;
  /** The platform's id of the conversation. */
  readonly chatId?: string | undefined;
  readonly threadId?: string | undefined;
  readonly type?: 'direct' | 'group';
  /** Makes the session id unique: `dateOf(at)`, `-` and a random part. */
  readonly mark: string;
}

export interface Occasion {
  readonly sessionId: string;
  readonly source: SessionSource;
  readonly expiry: Expiry;
}

/** The occasion for a session of this key when a message arrives. */
export const occasionAt = (parsed: ParsedKey, config: Config, arrival: Arrival): Occasion => ({
  sessionId: sessionIdOf(parsed, arrival),
  source: sourceOf(parsed, arrival),
  expiry: expiryOf(parsed, config.session, arrival),
});

/**
 * The occasion of a message that names its session, as API calls do. `sessionId` is a unique id chosen by the caller: it is used
 * as it is if the source has no form of its own; otherwise the random part of the id is derived from it (A3/41, C8).
 */
export const occasionOf = (
  key: SessionKey,
  config: Config,
  given: { readonly at: number; readonly channel?: string; readonly sessionId?: string },
): Occasion => {
  const { at, sessionId } = given;
  const parsed = parseKey(key, config.session.mainKey);
  const { id: chatId, threadId } = parsed;
  const channel = given.channel ?? (isChannelName(parsed.channel) ? parsed.channel : undefined);
  const hasOwnForm = channel !== undefined || isProgramSource(parsed.kind);
  if (sessionId !== undefined && !hasOwnForm) {
    const arrival = { at, channel, chatId, threadId, mark: '' };
    return { sessionId, source: sourceOf(parsed, arrival), expiry: expiryOf(parsed, config.session, arrival) };
  }
  const mark = `${dateOf(at)}-${randomFrom(JSON.stringify(sessionId === undefined ? [key, at] : [sessionId]))}`;
  return occasionAt(parsed, config, { at, channel, chatId, threadId, mark });
};

/** Keys may contain anything; a segment longer than any channel name is not a channel. */
const isChannelName = (text = ''): boolean => text !== '' && text.length <= 64;

/** The UTC date of a time, as `2026-03-04`. */
export const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

const randomFrom = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** Sources whose sessions have a fixed id, which is also the short form of their key; resets number it (C8). */
const fixed: ReadonlySet<string> = new Set(['cli', 'web', 'schedule']);

/** A key may be longer than an id: parts that do not fit are left out. */
const sessionIdOf = ({ kind, id }: ParsedKey, { channel, mark }: Arrival): string => {
  const source = channel ?? (isProgramSource(kind) ? kind : 'api');
  const names = [...(fixed.has(kind) ? [`${kind}:${id}`] : []), `${source}:${mark}`];
  return names.find((name) => name.length <= limits.sessionIdCharacters) ?? `api:${mark}`;
};

const sourceOf = (parsed: ParsedKey, arrival: Arrival): SessionSource => {
  const { channel } = arrival;
  const program = channel !== undefined && isProgramSource(channel) ? channel : parsed.kind;
  switch (program) {
    case 'cli':
    case 'web':
      return { kind: program, interactive: true };
    case 'cron':
    case 'schedule':
      return { kind: 'schedule', interactive: false, ...triggerOf(parsed, arrival) };
    case 'hook':
    case 'node':
      return { kind: program, interactive: false, ...triggerOf(parsed, arrival) };
    default:
      return channel === undefined || channel === 'api'
        ? { kind: 'api', interactive: false }
        : ofChannel(channel, parsed, arrival);
  }
};

const triggerOf = ({ id }: ParsedKey, { chatId }: Arrival): { triggerId?: string } => {
  const triggerId = chatId ?? id ?? '';
  return triggerId === '' || triggerId.length > limits.idCharacters ? {} : { triggerId };
};

const ofChannel = (platform: string, { kind }: ParsedKey, { type, chatId, threadId }: Arrival): SessionSource => {
  const ids = platformIds(platform, chatId, threadId);
  const chat = type ?? (kind === 'group' || kind === 'channel' ? 'group' : 'direct');
  return ids === undefined
    ? { kind: 'channel', interactive: true, platform, type: chat }
    : { kind: 'channel', interactive: true, platform, type: chat, ids };
};

/** The platform's own ids of the place where a session started, under their usual names (A3/41). */
const platformIds = (platform: string, chatId?: string, threadId?: string): Record<string, string> | undefined => {
  if (chatId === undefined) return undefined;
  switch (platform) {
    case 'telegram':
      return { telegram_chat_id: chatId };
    case 'discord':
      return { discord_channel_id: chatId };
    case 'slack':
      return { slack_channel_id: chatId, ...(threadId !== undefined && { slack_thread_ts: threadId }) };
    default:
      return undefined;
  }
};

/** Each run of a cron job has its own session id (A4/57); all else follows the policy. */
const expiryOf = (parsed: ParsedKey, session: Config['session'], { at, channel, threadId }: Arrival): Expiry =>
  parsed.kind === 'cron'
    ? isolatedCron
    : expiryFor(session, { type: resetTypeOf(parsed, threadId), channel: channel ?? parsed.channel }, at);
