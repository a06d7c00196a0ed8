import type { Origin } from '../values/types.ts';
import type { InboundEnvelope } from './inbound-envelope.ts';

/** Where a message comes from, for people and lists (A2/13–15, A13/132–139). Best effort: what the envelope lacks is left out. */
export const originOf = (envelope: InboundEnvelope): Origin => {
  const { channel, accountId, conversation, sender } = envelope;
  const { threadId } = conversation;
  const isDirect = conversation.kind === 'direct';
  const names = {
    label: nonEmpty(conversation.label),
    subject: nonEmpty(conversation.subject),
    room: nonEmpty(conversation.channel),
    space: nonEmpty(conversation.space),
  };
  const provider = (envelope.provider ?? channel).trim().toLowerCase();
  const origin: Origin = {
    provider,
    // For a group this is the group: with its members' ids the origin would change with every message.
    from: envelope.from ?? (isDirect ? sender.id : conversation.id),
    to: envelope.to ?? conversation.id,
  };
  const label = names.label ?? (isDirect ? nonEmpty(sender.name) : (names.subject ?? names.room));
  if (label !== undefined) origin.label = label;
  if (accountId !== undefined) origin.accountId = accountId;
  if (threadId !== undefined) origin.threadId = threadId;
  const displayName = isDirect ? undefined : displayNameOf(provider, names);
  if (displayName !== undefined) origin.displayName = displayName;
  if (names.subject !== undefined) origin.subject = names.subject;
  if (names.room !== undefined) origin.room = names.room;
  if (names.space !== undefined) origin.space = names.space;
  return origin;
};

const nonEmpty = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === '' ? undefined : text.trim();

type Names = Readonly<Record<'label' | 'subject' | 'room' | 'space', string | undefined>>;

/** `discord:my-guild#general` if there is a room, else the provider and the group's name (A2/15). */
const displayNameOf = (provider: string, { label, subject, room, space }: Names): string | undefined => {
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
