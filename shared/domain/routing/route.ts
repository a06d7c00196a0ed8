import type { Config } from '../config/schema.ts';
import { identitiesOf } from '../keys/identity.ts';
import { routedIdOf } from '../keys/routed-id.ts';
import { isProgramSource } from '../keys/session-key.ts';
import type { SessionCommand } from '../session/commands.ts';
import { type CommandEnvelope, commandEnvelope } from '../session/envelope.ts';
import { isStranger } from '../values/queue-share.ts';
import type { DeliveryTarget, Sender } from '../values/types.ts';
import { type ChatCommandContext, commandForChat, mayCommand } from './chat-answer.ts';
import { type ChatCommand, chatCommandIn } from './chat-command.ts';
import { type ConversationKey, placing } from './envelope-key.ts';
import { type ChannelRules, channelRules, groupDecision, nameFinder, usualRules } from './group.ts';
import { actorOf, envelopeProblem, type InboundEnvelope, identityOf, orderOf } from './inbound-envelope.ts';
import { dateOf, occasionAt } from './occasion.ts';
import { originOf } from './origin.ts';
import { queueRulesOf } from './queue-rule.ts';

/**
 * A command for one session, or why the configuration drops the envelope, or why it cannot be routed. `pairing`: what has to be
 * found out, or done, before it can be routed.
 */
export type Routed =
  | { readonly command: CommandEnvelope }
  | { readonly dropped: string }
  | { readonly unroutable: string }
  | { readonly pairing: PairingStep };

/** `stranger`: whether the sender is paired; the owner's `/pair`: the approval of a code (D8). */
export type PairingStep =
  | { readonly kind: 'stranger' }
  | { readonly kind: 'approve'; readonly code: string; readonly by: string };

/** The result of a step: the sender is paired, or what is to be told. */
export type PairingResult = { readonly isPaired: true } | { readonly notice: string };

/**
 * `receivedAt` (ms) replaces a time that the platform did not send or that is in the future. `pairing`: the result of the step that
 * the same envelope needed.
 */
export type Route = (envelope: InboundEnvelope, receivedAt: number, pairing?: PairingResult) => Routed;

/**
 * Turns an inbound envelope into a command for a session. Pure: the same envelope gives the same command, so that routing it
 * twice takes effect once (I2). A command that a session host would refuse as invalid is unroutable here, with the field at
 * fault.
 */
export const route = (envelope: InboundEnvelope, config: Config, receivedAt: number): Routed =>
  createRoute(config)(envelope, receivedAt);

const ofOneStranger = { scope: 'per-sender', dmScope: 'per-account-channel-peer' } as const;

/** `route` with everything that depends only on the configuration computed once. */
export const createRoute = (config: Config): Route => {
  const identities = identitiesOf(config.session.identityLinks);
  const owners = new Set(config.agent.owners.map(identities.resolve));
  const placeOf = placing(config, identities);
  const markOf = marking();
  // What a stranger is told has a session of its own, never one that others read.
  const strangersPlace = placing({ ...config, session: { ...config.session, ...ofOneStranger } }, identities);
  const dataOf = deciding(config);
  const channels = new Map(Object.entries(config.channels).map(([name, rules]) => [name, channelRules(name, rules, identities)]));

  /** Role and principal come from the configuration; an envelope cannot make its sender an owner (A5/66, A6/73). */
  const identified = ({ channel, sender: { id, name, role: said } }: InboundEnvelope): Sender => {
    const principal = identities.principalOf(channel, id);
    const role = owners.has(principal) ? 'owner' : said === 'program' ? said : 'participant';
    // A bot on a platform does not act for the owner, as a program of this installation does.
    const isForeign = role === 'program' && !isProgramSource(channel);
    return { id, ...(name !== undefined && { name }), role, principal, ...(isForeign && { onBehalfOf: 'participant' as const }) };
  };

  return (envelope, receivedAt, pairing) => {
    const { channel, conversation } = envelope;
    const rules = channels.get(channel) ?? usualRules;
    const sender = identified(envelope);
    const problem = envelopeProblem(envelope);
    if (problem !== null) return { unroutable: `${problem.field}: ${problem.message}` };
    const admission = rules.admits(sender, conversation);
    if (typeof admission === 'object') return admission;
    if (envelope.kind === 'reaction' || envelope.kind === 'button')
      return { dropped: `kind: a ${envelope.kind} is not recorded yet` };
    const isStranger = admission === 'paired' && !(pairing !== undefined && 'isPaired' in pairing);
    const usual = placeOf(envelope);
    const isTheirs = 'key' in usual && usual.parsed.kind === 'dm';
    const place = isStranger && !isTheirs ? strangersPlace(envelope) : usual;
    if ('problem' in place) return { unroutable: place.problem };

    // A platform clock that is ahead would keep the session fresh for too long.
    const at = Math.min(envelope.at ?? receivedAt, receivedAt);
    const { id, mark } = markOf(envelope, at);
    const actor = actorOf(channel, envelope.sender.id);
    const order = envelope.order === undefined ? undefined : orderOf(envelope, envelope.order);
    const commanded = (data: SessionCommand): Routed =>
      checked({ id, key: place.key, at, correlationId: id, causationId: envelope.id, actor, order, data });
    if (isStranger) {
      if ((envelope.kind ?? 'message') !== 'message')
        return { dropped: `channels.${channel}.dmPolicy: the sender is not paired` };
      if (pairing === undefined || !('notice' in pairing)) return { pairing: { kind: 'stranger' } };
      const deliverTo = targetOf(envelope, config);
      return commanded({
        type: 'post_notice',
        notice: { code: 'pairing', text: pairing.notice, ...(deliverTo && { deliverTo }) },
      });
    }
    const data = dataOf({ envelope, place, sender, rules, at, mark, pairing });
    return 'pairing' in data ? data : commanded(data);
  };
};

/** Derives the command id and the unique part of the session id from the envelope's own id (A3/41). */
const marking = (): ((envelope: InboundEnvelope, at: number) => { id: string; mark: string }) => {
  const dayMs = 86_400_000;
  let known = { day: 0, date: dateOf(0) };
  return (envelope, at) => {
    const day = Math.floor(at / dayMs);
    if (day !== known.day) known = { day, date: dateOf(at) };
    const { id, mark } = routedIdOf(identityOf(envelope));
    return { id, mark: `${known.date}-${mark}` };
  };
};

/** An envelope with its session, sender and rules. */
interface Case {
  readonly envelope: InboundEnvelope;
  readonly place: ConversationKey;
  readonly sender: Sender;
  readonly rules: ChannelRules;
  readonly at: number;
  readonly mark: string;
  readonly pairing: PairingResult | undefined;
}

/**
 * Returns the function that chooses the session command: record an origin, run a chat command, or take a message with or without
 * a turn.
 */
const deciding = (config: Config): ((given: Case) => SessionCommand | { readonly pairing: PairingStep }) => {
  const { agent, session } = config;
  const namesAgent = nameFinder(agent.names);
  const chatWords = { triggers: session.resetTriggers, names: agent.names };
  const queueRule = queueRulesOf(session);

  /**
   * In a group a command counts only if it stands alone or addresses the agent, and only from those who may give it (A4/53, A11).
   */
  const chatCommandOf = (text: string, who: Parameters<typeof mayCommand>[0]): ChatCommand | null => {
    const chat = chatCommandIn(text, chatWords);
    if (chat === null || !mayCommand(who)) return null;
    const standsAlone = chat.type !== 'reset' || chat.rest === '';
    return who.direct || who.addressed || standsAlone ? chat : null;
  };

  return (given) => {
    const { envelope, sender, rules, place, at, pairing } = given;
    const { text, attachments, replyTo } = envelope;
    const occasion = occasionOn(given, config);
    const deliverTo = targetOf(envelope, config);
    const back = deliverTo && { deliverTo };
    if (envelope.kind === 'meta') return { type: 'record_origin', ...occasion, ...back };
    if (envelope.target !== undefined) return revisionOf(envelope, envelope.target, sender);

    const direct = envelope.conversation.kind === 'direct';
    const named = envelope.mentioned || envelope.directed || (!direct && namesAgent(text));
    const addressed = named || (!direct && !rules.requiresMention(envelope.conversation));
    const chat = chatCommandOf(text, { direct, addressed, role: sender.role });
    // A session that a hook chose may be anybody's.
    const isOwn =
      direct && (place.parsed.kind === 'dm' || isProgramSource(envelope.channel)) && envelope.sessionKey === undefined;
    if (chat !== null) {
      const paired = pairing !== undefined && 'notice' in pairing ? pairing.notice : undefined;
      if (chat.type === 'pair' && direct && sender.role === 'owner' && paired === undefined) {
        return { pairing: { kind: 'approve', code: chat.code, by: `${envelope.channel}:${sender.id}` } };
      }
      return commandForChat(chat, {
        mayChange: sender.role === 'owner' || isOwn,
        paired,
        key: place.key,
        channel: envelope.channel,
        occasion,
        sender,
        ...back,
        messageId: envelope.id,
        config,
        at,
      });
    }
    const { verdict, aside } = groupDecision(envelope, { addressed, role: sender.role, ownerTriggers: rules.ownerTriggers });
    const channel = deliverTo?.channel === envelope.channel ? undefined : envelope.channel;
    const message = { messageId: envelope.id, text, sender, deliverTo, aside, attachments, replyTo, channel };
    // No spread here: it would take a quarter of the routing time.
    const { sessionId, source, origin, expiry } = occasion;
    const queue = queueRule(envelope.channel, !isOwn && isStranger(sender));
    // The owner starts a turn however little they address the agent.
    const isAddressed = direct || named || (sender.role === 'owner' && rules.ownerTriggers);
    const type = verdict === 'append' ? 'append_message' : 'post_message';
    if (isAddressed) return { type, sessionId, source, origin, expiry, message, queue };
    return { type, sessionId, source, origin, expiry, message, queue, unaddressed: true };
  };
};

/** An edit or a deletion of the message that the platform calls `target`, in the same conversation. */
const revisionOf = (envelope: InboundEnvelope, target: string, by: Sender): SessionCommand => {
  const { id } = routedIdOf(identityOf({ ...envelope, id: target }));
  return envelope.kind === 'edit'
    ? { type: 'edit_message', target: id, text: envelope.text, by }
    : { type: 'withdraw_message', target: id, by };
};

/** The occasion of an envelope. The connector's word on the source overrides what the key says (A3/42). */
const occasionOn = ({ envelope, place, at, mark }: Case, config: Config): ChatCommandContext['occasion'] => {
  const { channel, conversation, source: told } = envelope;
  const { id: chatId, threadId } = conversation;
  const type = conversation.kind === 'direct' ? 'direct' : 'group';
  const { sessionId, source, expiry } = occasionAt(place.parsed, config, { at, channel, chatId, threadId, type, mark });
  return {
    sessionId,
    source: told ? { ...(source.ids && { ids: source.ids }), ...told } : source,
    origin: originOf(envelope),
    expiry,
  };
};

/** Where the answer goes: where the envelope says, else back to the conversation if its channel has an outlet. */
const targetOf = (
  { channel, accountId, conversation, deliverTo }: InboundEnvelope,
  { outlets }: Config,
): DeliveryTarget | undefined => {
  if (deliverTo !== undefined) return deliverTo;
  if (channel !== 'terminal' && !Object.hasOwn(outlets.webhooks, channel)) return undefined;
  const { id, threadId } = conversation;
  return { channel, to: id, ...(accountId !== undefined && { accountId }), ...(threadId !== undefined && { threadId }) };
};

/**
 * The envelope and the key are validated already, and routing adds only short parts. So the command is validated in full only if
 * it has long parts or comes from elsewhere.
 */
const checked = (command: CommandEnvelope): Routed => {
  if (isSurelyValid(command)) return { command };
  const result = commandEnvelope.safeParse(command);
  if (result.success) return { command };
  const issue = result.error.issues[0];
  return { unroutable: `${issue?.path.map(String).join('.')}: ${issue?.message}` };
};

const isSurelyValid = ({ data }: CommandEnvelope): boolean => {
  if (data.type !== 'post_message' && data.type !== 'append_message') return false;
  const { text, sender } = data.message;
  return text.length <= 250_000 && (sender.principal ?? '').length <= 512 && (data.origin?.provider ?? '').length <= 64;
};
