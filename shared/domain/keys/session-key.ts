import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { detachedString } from '../../kit/text/detached-string.ts';

/**
 * A session key names the conversation an actor serves (A3): segments joined by `:`, such as `agent:main:telegram:group:-100123`.
 * Byte-exact and case-preserving: two different conversations never share a key. `buildKey` and `parseKey` are inverse to each
 * other; parts that would not survive the round trip are refused.
 */
export type SessionKey = string & { readonly brand: 'SessionKey' };

/** Fast path: keys of only these characters, in segments joined by `:`, are valid. */
const plain = /^[\w.@+#!/=$~-]+(?::[\w.@+#!/=$~-]+)*$/;

/** Control characters, white space, and characters with a meaning in subjects or in our escapes. */
const forbidden = /[\p{Cc}\p{Cf}\p{Z}*>%]/u;

/** Why `text` is not a session key, or `null` if it is one. Ids may contain `.`, `@`, `+`, `#`, `/` and letters of any script. */
export const sessionKeyProblem = (text: string): string | null => {
  if (text.length <= limits.sessionKeyBytes && plain.test(text)) return null;
  if (text === '') return 'is empty; use for example "agent:main:main"';
  if (!text.isWellFormed()) return 'has a broken surrogate pair; send valid UTF-8';
  if (Buffer.byteLength(text) > limits.sessionKeyBytes) return `is longer than ${limits.sessionKeyBytes} bytes`;
  const found = forbidden.exec(text);
  if (found) return `contains ${JSON.stringify(found[0])}; white space, control characters, "*", ">" and "%" are not allowed`;
  if (text.split(':').includes('')) return 'has an empty segment; segments between ":" must not be empty';
  return null;
};

/** Validates a session key at a boundary. */
export const sessionKey = z.string().transform((text, context): SessionKey => {
  const problem = sessionKeyProblem(text);
  if (problem === null) return text as SessionKey;
  context.addIssue({ code: 'custom', message: `session key ${problem}` });
  return z.NEVER;
});

/** A key, or why these parts make none. */
export type KeyResult = { readonly key: SessionKey } | { readonly problem: string };

/** Program sources have keys of their own, `<source>:<id>`; a node's is `node-<id>` (A3/37–39, 41). */
export const programSources = ['cron', 'hook', 'node', 'cli', 'web', 'schedule', 'api'] as const;
export type ProgramSource = (typeof programSources)[number];

export const isProgramSource = (name: string): name is ProgramSource => (programSources as readonly string[]).includes(name);
export type KeyKind = 'main' | 'global' | 'unknown' | 'dm' | 'group' | 'channel' | ProgramSource | 'other';

/**
 * The parts of a key. `id` is the peer of a `dm`, the platform's id of a `group` or `channel`, the job, hook or name of a program
 * source, and the whole bare key of kind `other`. A `dm` has a channel and an account only if its scope includes them (A3/26–28).
 */
export interface ParsedKey {
  /** Empty if the key does not begin with `agent:`. */
  readonly agentId: string;
  readonly kind: KeyKind;
  readonly channel?: string;
  readonly accountId?: string;
  readonly id?: string;
  readonly threadId?: string;
}

/** `agent:<agentId>:`, followed by at least one more segment. */
const agentPrefix = /^agent:([^:]+):(?=.)/s;

/** The key without `agent:<agentId>:`. */
export const bareKey = (key: string): string => key.replace(agentPrefix, '');

/** Keys parsed lately: a turn asks a dozen times for the parts of its key, and a group's take 2 µs each time. */
const parsedKeys = new Map<string, { readonly mainKey: string; readonly parsed: ParsedKey }>();
const keptKeys = 2_000;

/** Parses a key. `mainKey` is `session.mainKey`. Total: a key of no known form has kind `other`. */
export const parseKey = (key: string, mainKey = 'main'): ParsedKey => {
  const known = parsedKeys.get(key);
  if (known?.mainKey === mainKey) return known.parsed;
  const parsed = partsOf(key, mainKey);
  if (parsedKeys.size >= keptKeys) parsedKeys.clear();
  parsedKeys.set(detachedString(key), { mainKey, parsed });
  return parsed;
};

const partsOf = (key: string, mainKey: string): ParsedKey => {
  const [prefix = '', agentId = ''] = agentPrefix.exec(key) ?? [];
  const bare = key.slice(prefix.length);
  if (bare === 'global' || bare === 'unknown') return { agentId, kind: bare };
  if (bare === mainKey && !bare.includes(':')) return { agentId, kind: 'main' };
  return ofSource(agentId, bare) ?? ofConversation(agentId, bare.split(':')) ?? { agentId, kind: 'other', id: bare };
};
const ofSource = (agentId: string, bare: string): ParsedKey | null => {
  if (bare.startsWith('node-') && bare.length > 5) return { agentId, kind: 'node', id: bare.slice(5) };
  const colon = bare.indexOf(':');
  if (colon === -1 || colon === bare.length - 1) return null;
  const kind = bare.slice(0, colon);
  return kind !== 'node' && isProgramSource(kind) ? { agentId, kind, id: bare.slice(colon + 1) } : null;
};

/** `dm:<peer>`, `<channel>:dm:<peer>`, `<channel>:<account>:dm:<peer>`, `<channel>:group|channel:<id>[:topic:<thread>]`, `group:<id>` (A3/35). */
const ofConversation = (agentId: string, segments: readonly string[]): ParsedKey | null => {
  const [first = '', second] = segments;
  if (segments.length < 2) return null;
  if (first === 'dm') return { agentId, kind: 'dm', id: segments.slice(1).join(':') };
  if (first === 'group' || first === 'channel') return withThread({ agentId, kind: first }, segments.slice(1));
  if (segments.length < 3) return null;
  if (second === 'group' || second === 'channel') return withThread({ agentId, kind: second, channel: first }, segments.slice(2));
  const at = segments.indexOf('dm', 1);
  if (at === -1 || at === segments.length - 1) return null;
  const id = segments.slice(at + 1).join(':');
  if (at === 1) return { agentId, kind: 'dm', channel: first, id };
  return { agentId, kind: 'dm', channel: first, accountId: segments.slice(1, at).join(':'), id };
};

/** An id may contain `:`, as Matrix rooms do. It ends at the first segment `topic` after its first segment (A3/34). */
const withThread = (place: ParsedKey, segments: readonly string[]): ParsedKey => {
  const at = segments.indexOf('topic', 1);
  if (at === -1 || at === segments.length - 1) return { ...place, id: segments.join(':') };
  return { ...place, id: segments.slice(0, at).join(':'), threadId: segments.slice(at + 1).join(':') };
};
const bareOf = ({ kind, channel, accountId, id, threadId }: ParsedKey, mainKey: string): string => {
  switch (kind) {
    case 'main':
      return mainKey;
    case 'global':
    case 'unknown':
      return kind;
    case 'dm': {
      const account = accountId === undefined ? '' : `${accountId}:`;
      return channel === undefined ? `${account}dm:${id}` : `${channel}:${account}dm:${id}`;
    }
    case 'group':
    case 'channel': {
      const thread = threadId === undefined ? '' : `:topic:${threadId}`;
      return channel === undefined ? `${kind}:${id}${thread}` : `${channel}:${kind}:${id}${thread}`;
    }
    case 'node':
      return `node-${id}`;
    case 'other':
      return `${id}`;
    default:
      return `${kind}:${id}`;
  }
};

/** Builds a key. Refuses parts that would be parsed as another conversation (A3/20–39). */
export const buildKey = (parts: ParsedKey, mainKey = 'main'): KeyResult => {
  const text = `agent:${parts.agentId}:${bareOf(parts, mainKey)}`;
  const problem = sessionKeyProblem(text);
  if (problem !== null) return { problem: `the session key ${JSON.stringify(text)} ${problem}` };
  if (isUsual(parts) || isSame(parts, parseKey(text, mainKey))) return { key: text as SessionKey };
  return { problem: `the session key ${JSON.stringify(text)} would belong to another conversation; ${hint(parts)}` };
};

/** First segments of keys that are not channel names. */
const taken: ReadonlySet<string> = new Set([...programSources, 'dm', 'group', 'channel']);

/**
 * Fast path: true for the parts of nearly all conversations, which are known to survive the round trip without parsing the key
 * again.
 */
const isUsual = ({ kind, channel = '', accountId, id = '' }: ParsedKey): boolean =>
  (kind === 'group' || kind === 'channel' || kind === 'dm') &&
  accountId === undefined &&
  channel !== '' &&
  !taken.has(channel) &&
  !channel.startsWith('node-') &&
  !channel.includes(':') &&
  id !== '' &&
  !id.includes(':');
const isSame = (one: ParsedKey, other: ParsedKey): boolean =>
  one.agentId === other.agentId &&
  one.kind === other.kind &&
  one.channel === other.channel &&
  one.accountId === other.accountId &&
  one.id === other.id &&
  one.threadId === other.threadId;
const hint = ({ kind }: ParsedKey): string => {
  if (kind === 'main') return 'session.mainKey must not have ":" or look like another kind of key';
  if (kind === 'dm')
    return 'an account id must not contain a segment "dm", "group" or "channel", and a channel must not be a reserved name';
  return 'an id must not contain a segment ":topic:", and a channel must not be a reserved name such as "cron" or "dm"';
};

/** True for groups and channels, including their threads (C9). */
export const isGroupKey = (key: SessionKey): boolean => {
  const { kind } = parseKey(key);
  return kind === 'group' || kind === 'channel';
};

/** The chat type in rules of the send policy (A9/92). */
export const chatTypeOf = ({ kind, threadId }: ParsedKey): 'direct' | 'group' | 'channel' | 'thread' => {
  if (threadId !== undefined) return 'thread';
  return kind === 'group' || kind === 'channel' ? kind : 'direct';
};

/** Direct sessions of people, which a thread may be part of. */
const directKinds: ReadonlySet<KeyKind> = new Set(['main', 'global', 'dm']);

/**
 * The entry of `session.resetByType` that applies (A4/51). `threadId`: of the message, which a direct session's key does not have
 * (D11).
 */
export const resetTypeOf = (parsed: ParsedKey, threadId?: string): 'dm' | 'group' | 'thread' => {
  if (threadId !== undefined && directKinds.has(parsed.kind)) return 'thread';
  const type = chatTypeOf(parsed);
  return type === 'direct' ? 'dm' : type === 'thread' ? type : 'group';
};

/** The kind shown in lists (A10/104). Callers see the global session as the main one (A3/40). */
export const listKindOf = ({ kind }: ParsedKey): 'main' | 'group' | 'cron' | 'hook' | 'node' | 'other' => {
  switch (kind) {
    case 'main':
    case 'global':
      return 'main';
    case 'group':
    case 'channel':
      return 'group';
    case 'cron':
    case 'hook':
    case 'node':
      return kind;
    default:
      return 'other';
  }
};
