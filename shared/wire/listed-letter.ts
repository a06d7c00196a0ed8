import { type SessionKey, sessionKey } from '../domain/keys/session-key.ts';
import type { ListedDeadLetter, StoredDeadLetter } from '../ports/dead-letters.ts';
import { decode } from './codec.ts';

/** Those whose messages name a session. An inbound envelope gets one only when it is routed. */
const naming: ReadonlySet<string> = new Set(['session', 'checkpoint', 'delivery']);

/** The session that a letter's message names, even where nothing else in it can be read. */
const sessionOf = ({ service, bytes }: StoredDeadLetter): SessionKey | undefined => {
  if (!naming.has(service)) return undefined;
  try {
    return sessionKey.safeParse((decode(bytes) as { readonly key?: unknown } | null)?.key).data;
  } catch {
    return undefined;
  }
};

/** A letter as lists show it. */
export const listedLetter = (letter: StoredDeadLetter): ListedDeadLetter => {
  const { bytes, ...facts } = letter;
  const named = sessionOf(letter);
  return { ...facts, ...(named !== undefined && { sessionKey: named }), size: bytes.byteLength };
};
