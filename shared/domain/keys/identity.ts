/** Resolves sender ids to people (A3/29, A5/66). Ids are compared byte for byte. */

/** `session.identityLinks`: a person's name → their ids, as `<channel>:<id>`. */
export type IdentityLinks = Readonly<Record<string, readonly string[]>>;

/** The identity links, indexed for lookup. */
export interface Identities {
  /** The linked name of an id, if any. */
  nameOf(channel: string, senderId: string): string | undefined;
  /** A linked person's name, else `<channel>:<id>`. */
  principalOf(channel: string, senderId: string): string;
  /** Resolves a stored or configured principal by the current links. */
  resolve(principal: string): string;
  /**
   * All principals that resolve to the same person, as they may be stored. `null`: they cannot be listed, because one id applies
   * to any channel.
   */
  aliasesOf(principal: string): readonly string[] | null;
  /** True if `text` is the name of a linked person. */
  isName(text: string): boolean;
}

/**
 * Of several entries that match an id, the one with the channel wins: `telegram:123` before `123`, which applies to any channel.
 * An id that contains `:` only matches with its channel in front, so that nobody can impersonate another by using the id
 * `telegram:123`. The configuration refuses an entry that two people claim.
 */
export const identitiesOf = (links: IdentityLinks): Identities => {
  const names = new Map(Object.entries(links).flatMap(([name, entries]) => entries.map((entry) => [entry, name] as const)));
  const nameOf = (channel: string, senderId: string): string | undefined =>
    names.size === 0
      ? undefined
      : (names.get(`${channel}:${senderId}`) ?? (senderId.includes(':') ? undefined : names.get(senderId)));
  const principalOf = (channel: string, senderId: string): string => nameOf(channel, senderId) ?? `${channel}:${senderId}`;
  const isName = (text: string): boolean => Object.hasOwn(links, text);
  const resolve = (principal: string): string => {
    const colon = principal.indexOf(':');
    if (colon === -1 || isName(principal)) return principal;
    return principalOf(principal.slice(0, colon), principal.slice(colon + 1));
  };
  const aliasesOf = (principal: string): readonly string[] | null => {
    const person = resolve(principal);
    const ids = isName(person) ? (links[person] ?? []) : [];
    return ids.every((id) => id.includes(':')) ? [person, ...ids] : null;
  };
  return { nameOf, principalOf, resolve, aliasesOf, isName };
};
