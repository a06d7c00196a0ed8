import type { Origin } from '../values/types.ts';
import { displayNameOf } from './display-name.ts';
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
