/** The names that an envelope gives its conversation, where it has them. */
type Names = Readonly<Record<'label' | 'subject' | 'room' | 'space', string | undefined>>;

/** `discord:my-guild#general` if there is a room, else the provider and the group's name (A2/15). */
export const displayNameOf = (provider: string, { label, subject, room, space }: Names): string | undefined => {
  const name = subject ?? label ?? space;
  const place = room !== undefined ? `${space === undefined ? '' : slug(space)}#${slug(room)}` : name && slug(name);
  return place === undefined || place === '' || place === '#' ? undefined : shortened(`${provider}:${place}`);
};

/** At most 256 UTF-16 units, without half a surrogate pair at the end. */
const shortened = (text: string): string => (text.length <= 256 ? text : text.slice(0, 256).replace(/\p{Cs}$/u, ''));

/**
 * Lower case, with `-` for white space. Removes characters that are neither letters, digits nor `._+-`, such as the `#` of a
 * room.
 */
const slug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/\s+/gu, '-')
    .replaceAll(/[^\p{L}\p{M}\p{N}._+-]/gu, '');
