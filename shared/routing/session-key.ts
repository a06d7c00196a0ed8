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
