import { hash } from 'node:crypto';
import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import type { InboundIdentity } from '../keys/routed-id.ts';
import { id, traceparent } from '../session/envelope.ts';
import type { MessageOrder } from '../session/repeats/order-windows.ts';
import { attachment } from '../values/attachment.ts';
import { deliveryTarget, message, sender, sessionChannel, sessionSource, timestamp } from '../values/types.ts';

/**
 * What a channel, webhook or program hands to the router. `id` is the platform's message id, unique within the conversation, or within the
 * account if `idScope` says so. `order` is the number by which the platform counts the messages of a conversation (Telegram's `message_id`,
 * Slack's `ts` without its point, a Discord id, an IMAP UID). Both recognise an envelope that is sent again: `docs/integrate/arrives-once.md`
 * says for how long. `conversation` is the platform's chat id, byte-exact. `mentioned` and
 * `directed` say whether the platform knows that the agent is addressed (A6). An envelope of kind `meta` carries no message but
 * only facts about the conversation and the route back to it (A13/138); its text is empty. The default kind is `message`.
 * `edit` and `delete` are about an earlier message of the same conversation. `reaction` and `button` are accepted and not recorded yet.
 */
const label = z.string().max(256).optional();
const routingId = z.string().min(1).max(512).optional();
export const inboundEnvelope = z.object({
  id,
  idScope: z.enum(['conversation', 'account']).optional(),
  order: z.union([z.string().regex(/^[0-9]{1,20}$/, 'order: 1 to 20 decimal digits'), z.int().min(0)]).optional(),
  kind: z.enum(['message', 'meta', 'edit', 'delete', 'reaction', 'button']).optional(),
  /** Version of these fields. */
  v: z.literal(1).optional(),
  /** The platform's id of the message that was edited or deleted, that somebody reacted to, or that has the button. */
  target: id.optional(),
  replyTo: message.shape.replyTo,
  /** References alone: the session that would keep the content is known only after routing. */
  attachments: z
    .array(attachment.omit({ digest: true }))
    .max(limits.attachments)
    .optional(),
  /** An emoji or the platform's name of it; `removed`: it was taken back. */
  reaction: z.object({ emoji: z.string().min(1).max(64), removed: z.boolean().optional() }).optional(),
  /** What the button stands for, as the message with it said. */
  button: z.object({ data: z.string().min(1).max(1_024) }).optional(),
  channel: z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/, 'channel: use 1 to 32 of a-z, 0-9, "_" and "-", starting with a letter'),
  accountId: z.string().min(1).max(128).optional(),
  conversation: z.object({
    id: z.string().min(1).max(128),
    kind: z.enum(['direct', 'group', 'channel']),
    threadId: z.string().min(1).max(128).optional(),
    /** Names of the conversation: `ConversationLabel`, `GroupSubject`, `GroupChannel` and `GroupSpace` (A13/139). */
    label,
    subject: label,
    channel: label,
    space: label,
  }),
  /** The platform, where it differs from the channel's name, and the raw routing ids (A13/133–134). */
  provider: z.string().min(1).max(64).optional(),
  from: routingId,
  to: routingId,
  /** A session key chosen by a hook or node (A3/38–39, C16), or an older `group:<id>` of this channel (A3/36). */
  sessionKey: z.string().min(1).max(256).optional(),
  sender,
  text: z.string().max(262_144),
  mentioned: z.boolean().default(false),
  directed: z.boolean().default(false),
  at: timestamp.optional(),
  agentId: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)
    .optional(),
  deliverTo: deliveryTarget.optional(),
  source: sessionSource.optional(),
  traceparent,
});
export type InboundEnvelope = z.infer<typeof inboundEnvelope>;

/** What a repeat of the envelope has in common with it. */
export const identityOf = ({ channel, accountId, id: own, idScope, conversation }: InboundEnvelope): InboundIdentity => ({
  channel,
  accountId,
  id: own,
  conversation: idScope === 'account' ? undefined : conversation.id,
});

/** Numbers rise within a conversation, and where the platform counts each thread apart, within the thread. */
export const orderOf = (
  { channel, accountId, conversation: { id, threadId } }: InboundEnvelope,
  order: string | number,
): MessageOrder => ({
  source: hash('sha256', JSON.stringify([channel, accountId ?? null, id, threadId ?? null]), 'base64url').slice(0, 11),
  number: BigInt(order).toString(),
});

/** Who sends the command that an envelope becomes. */
export const actorOf = (channel: string, senderId: string): string => `${channel}:${senderId}`;

/** What is wrong with an envelope besides its single fields: the field, and the fix; `null`: nothing. */
export const envelopeProblem = (envelope: InboundEnvelope) => {
  const { kind = 'message', order, target, reaction, button, deliverTo, channel, sender: by } = envelope;
  const isAbout = kind !== 'message' && kind !== 'meta';
  if (isAbout && target === undefined) return { field: 'target', message: `name the message that the ${kind} is about` };
  if (!isAbout && target !== undefined)
    return { field: 'target', message: `leave it out, or say the kind: edit, delete, reaction or button` };
  if (kind !== 'message' && order !== undefined)
    return { field: 'order', message: `leave it out: it counts messages, and this is of kind ${kind}` };
  if ((kind === 'reaction') !== (reaction !== undefined))
    return { field: 'reaction', message: 'belongs to the kind reaction, and is needed there' };
  if ((kind === 'button') !== (button !== undefined))
    return { field: 'button', message: 'belongs to the kind button, and is needed there' };
  if (actorOf(channel, by.id).length > limits.actorCharacters)
    return { field: 'sender.id', message: `with the channel's name it has more than ${limits.actorCharacters} characters` };
  // What comes from there is taken for the word of a run that the session started.
  if (deliverTo?.channel === sessionChannel)
    return { field: 'deliverTo.channel', message: 'answers go to a session only from runs that it started; name an outlet' };
  return null;
};

/** Times in seconds stay below this for the next three thousand years; times in milliseconds have been above it since 1973. */
const leastMs = 100_000_000_000;

/** An envelope as it arrives from outside. Refuses a time in seconds, which would silently land in January 1970. */
export const arrivingEnvelope = inboundEnvelope.omit({ traceparent: true }).extend({
  at: timestamp.min(leastMs, 'is in milliseconds since 1970; this looks like seconds').optional(),
});
