import { z } from 'zod';
import type { InboundIdentity } from '../keys/routed-id.ts';
import { id, traceparent } from '../session/envelope.ts';
import { deliveryTarget, sender, sessionSource, timestamp } from '../values/types.ts';

/**
 * What a channel, webhook or program hands to the router. `id` is the platform's message id, unique within the conversation, or within the
 * account if `idScope` says so. `order` is the number by which the platform counts the messages of a conversation (Telegram's `message_id`,
 * Slack's `ts` without its point, a Discord id, an IMAP UID). Both recognise an envelope that is sent again: `docs/integrate/arrives-once.md`
 * says for how long. `conversation` is the platform's chat id, byte-exact. `mentioned` and
 * `directed` say whether the platform knows that the agent is addressed (A6). An envelope of kind `meta` carries no message but
 * only facts about the conversation and the route back to it (A13/138); its text is empty. The default kind is `message`.
 */
const label = z.string().max(256).optional();
const routingId = z.string().min(1).max(512).optional();
export const inboundEnvelope = z.object({
  id,
  idScope: z.enum(['conversation', 'account']).optional(),
  order: z.union([z.string().regex(/^[0-9]{1,20}$/, 'order: 1 to 20 decimal digits'), z.int().min(0)]).optional(),
  kind: z.enum(['message', 'meta']).optional(),
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

/** Times in seconds stay below this for the next three thousand years; times in milliseconds have been above it since 1973. */
const leastMs = 100_000_000_000;

/** An envelope as it arrives from outside. Refuses a time in seconds, which would silently land in January 1970. */
export const arrivingEnvelope = inboundEnvelope.omit({ traceparent: true }).extend({
  at: timestamp.min(leastMs, 'is in milliseconds since 1970; this looks like seconds').optional(),
});
