import { createHash } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import type { SessionCommand } from '../session/commands.ts';
import type { DeliveryTarget, Sender } from '../session/types.ts';
import { type CommandEnvelope, commandEnvelope, type InboundEnvelope } from '../wire/envelope.ts';
import { ruleOn } from './group.ts';
import { conversationKey, type KeyResult, mainSessionKey } from './session-key.ts';

/** A command for one session, or why no session can have it. */
export type Routed = { readonly command: CommandEnvelope } | { readonly unroutable: string };

/**
 * What an inbound envelope asks of which session (step 2 of §3). Pure: the same envelope gives the same command, so that routing it twice
 * takes effect once (I2). `receivedAt` (ms) stands in for a time the platform did not send. A command that a session host would not
 * accept is unroutable here, with the field that is at fault.
 */
export const route = (envelope: InboundEnvelope, config: Config, receivedAt: number): Routed => {
  const keyed = keyOf(envelope, config);
  if ('problem' in keyed) return { unroutable: keyed.problem };
  const at = envelope.at ?? receivedAt;

  const { commandId, sessionId } = identify(envelope, at);
  const command: CommandEnvelope = {
    id: commandId,
    key: keyed.key,
    at,
    correlationId: commandId,
    causationId: envelope.id,
    actor: `${envelope.channel}:${envelope.sender.id}`,
    data: commandFor(envelope, config, sessionId),
  };
  const checked = commandEnvelope.safeParse(command);
  if (checked.success) return { command };
  const issue = checked.error.issues[0];
  return { unroutable: `${issue?.path.map(String).join('.')}: ${issue?.message}` };
};

const keyOf = ({ channel, conversation, agentId }: InboundEnvelope, { agent, session }: Config): KeyResult => {
  const { kind, id, threadId } = conversation;
  return kind === 'direct'
    ? mainSessionKey(agentId ?? agent.id, session.mainKey)
    : conversationKey(agentId ?? agent.id, channel, { kind, id, threadId });
};

/** Ids that follow from the envelope's own: the command's, and `<channel>:<date>-<random>` for a session that is new (A3/41). */
const identify = ({ channel, accountId, id }: InboundEnvelope, at: number): { commandId: string; sessionId: string } => {
  const digest = createHash('sha256')
    .update(JSON.stringify([channel, accountId ?? null, id]))
    .digest('hex');
  const date = new Date(at).toISOString().slice(0, 10);
  return { commandId: `in-${digest.slice(0, 32)}`, sessionId: `${channel}:${date}-${digest.slice(32, 44)}` };
};

const commandFor = (envelope: InboundEnvelope, config: Config, sessionId: string): SessionCommand => {
  const { channel, conversation } = envelope;
  const sender = withRole(envelope, config.agent.owners);
  const { verdict, text } = ruleOn(envelope, { isOwner: sender.role === 'owner', names: config.agent.names });
  const deliverTo = targetOf(envelope, config);
  return {
    type: verdict === 'post' ? 'post_message' : 'append_message',
    sessionId,
    message: { messageId: envelope.id, text, sender, ...(deliverTo && { deliverTo }) },
    source: envelope.source ?? {
      kind: 'channel',
      interactive: true,
      platform: channel,
      type: conversation.kind === 'direct' ? 'direct' : 'group',
    },
  };
};

/** The role comes from the configuration; an envelope cannot make its sender an owner (A5/66, A6/73). */
const withRole = ({ channel, sender }: InboundEnvelope, owners: readonly string[]): Sender => {
  const role = sender.role === 'program' ? 'program' : 'participant';
  return { ...sender, role: owners.includes(`${channel}:${sender.id}`) ? 'owner' : role };
};

/** Where the answer goes: where the envelope says, else back to the conversation if there is a way out to its channel. */
const targetOf = (
  { channel, accountId, conversation, deliverTo }: InboundEnvelope,
  { outlets }: Config,
): DeliveryTarget | undefined => {
  if (deliverTo !== undefined) return deliverTo;
  if (channel !== 'terminal' && !Object.hasOwn(outlets.webhooks, channel)) return undefined;
  const { id, threadId } = conversation;
  return { channel, to: id, ...(accountId !== undefined && { accountId }), ...(threadId !== undefined && { threadId }) };
};
