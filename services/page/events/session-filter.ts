import { withoutAgent } from '../finding/session-name.ts';

/** Which events a person means who writes the name of a session, or its key, or a part of one. */
export type SessionFilter =
  /** All events: nothing is written. */
  | { readonly kind: 'all' }
  /** Those of one session, which the gateway filters. */
  | { readonly kind: 'one'; readonly key: string }
  /** Those of sessions whose name or key contains the text. */
  | { readonly kind: 'some'; fits(key: string): boolean };

/** `keys`: the sessions that the page knows. `nameOf`: what people call a session, known or not. */
export const sessionFilter = (text: string, keys: readonly string[], nameOf: (key: string) => string): SessionFilter => {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return { kind: 'all' };
  const namesOf = (key: string): string[] => [key, withoutAgent(key), nameOf(key)].map((name) => name.toLowerCase());
  const exact = keys.filter((key) => namesOf(key).includes(wanted));
  // Two sessions may have one name.
  const [one, another] = exact;
  if (one !== undefined && another === undefined) return { kind: 'one', key: one };
  // A whole key, also of a session that is not in the list.
  if (/^agent:[^:]+:./.test(wanted) && !keys.some((key) => key.toLowerCase().startsWith(wanted)))
    return { kind: 'one', key: text.trim() };
  return { kind: 'some', fits: (key) => namesOf(key).some((name) => name.includes(wanted)) };
};
