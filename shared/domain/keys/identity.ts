/** Who is behind a sender's id: A3/29, A5/66. Ids are compared byte for byte. */

/** `session.identityLinks`: a person's name and their ids, as `<channel>:<id>`. */
export type IdentityLinks = Readonly<Record<string, readonly string[]>>;

/** The links, ready for looking up. */
export interface Identities {
  /** The name an id is linked to. */
  nameOf(channel: string, senderId: string): string | undefined;
  /** A linked person's name, else `<channel>:<id>`. */
  principalOf(channel: string, senderId: string): string;
  /** A stored or configured principal by today's links. */
  resolve(principal: string): string;
  /** All that resolves to the same person: what may be stored of them. `null`: too much to say, one of the ids is theirs on any channel. */
  aliasesOf(principal: string): readonly string[] | null;
  /** True of the name of a linked person. */
  isName(text: string): boolean;
}

/**
 * Of several entries that match an id the one with the longest prefix wins: `telegram:123` before `123`, which is that id on any channel.
 * An id with `:` in it matches with its channel in front only, so that nobody can take another's place by calling himself
 * `telegram:123`. The configuration refuses an entry that two people have.
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
