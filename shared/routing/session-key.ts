import { z } from 'zod';
import { limits } from '../kit/limits.ts';

/**
 * A session key names the conversation an actor serves (A3): segments joined by `:`, such as `agent:main:telegram:group:-100123`.
 * Byte-exact and case-preserving: two different conversations never share a key.
 */
export type SessionKey = string & { readonly brand: 'SessionKey' };

/** Control characters, white space and the characters that mean something in a subject or in our escapes. */
const forbidden = /[\p{Cc}\p{Cf}\p{Z}*>%]/u;

/** Why `text` is not a session key, or `null` if it is one. Ids with `.`, `@`, `+`, `#`, `/` or letters of any script are fine. */
export const sessionKeyProblem = (text: string): string | null => {
  if (text === '') return 'is empty; use for example "agent:main:main"';
  if (!text.isWellFormed()) return 'has a broken surrogate pair; send valid UTF-8';
  if (Buffer.byteLength(text) > limits.sessionKeyBytes) return `is longer than ${limits.sessionKeyBytes} bytes`;
  const found = forbidden.exec(text);
  if (found) return `contains ${JSON.stringify(found[0])}; white space, control characters, "*", ">" and "%" are not allowed`;
  if (text.split(':').includes('')) return 'has an empty segment; segments between ":" must not be empty';
  return null;
};

/** Checks a session key at an edge. */
export const sessionKey = z.string().transform((text, context): SessionKey => {
  const problem = sessionKeyProblem(text);
  if (problem === null) return text as SessionKey;
  context.addIssue({ code: 'custom', message: `session key ${problem}` });
  return z.NEVER;
});

/** A key that was built, or why these parts cannot be in one. */
export type KeyResult = { readonly key: SessionKey } | { readonly problem: string };

const build = (part: string, ...segments: readonly string[]): KeyResult => {
  const text = segments.join(':');
  const problem = sessionKeyProblem(text);
  return problem === null
    ? { key: text as SessionKey }
    : { problem: `${part}: the session key ${JSON.stringify(text)} ${problem}` };
};

/** `agent:<agentId>:<mainKey>`: the one session that all direct chats with an agent share (A3/20, 21, 25). */
export const mainSessionKey = (agentId: string, mainKey: string): KeyResult =>
  mainKey.includes(':')
    ? { problem: `session.mainKey: ${JSON.stringify(mainKey)} contains ":", which would make it look like another session's key` }
    : build('session.mainKey', 'agent', agentId, mainKey);

/**
 * `agent:<agentId>:<channel>:group|channel:<id>[:topic:<threadId>]` (A3/32, 34). Ids are byte-exact. An id may have `:` in it, as Matrix
 * rooms do: it ends at the first segment `topic` after its first segment, and an id that has one itself is refused, so that two
 * conversations never share a key.
 */
export const conversationKey = (
  agentId: string,
  channel: string,
  { kind, id, threadId }: { kind: 'group' | 'channel'; id: string; threadId?: string | undefined },
): KeyResult => {
  if (id.split(':').slice(1).includes('topic')) {
    return {
      problem: `conversation.id: ${JSON.stringify(id)} contains ":topic", which separates the thread's id in a session key`,
    };
  }
  const thread = threadId === undefined ? [] : ['topic', threadId];
  return build('conversation', 'agent', agentId, channel, kind, id, ...thread);
};
