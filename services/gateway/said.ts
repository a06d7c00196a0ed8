import type { Principal } from '../../shared/domain/access/access.ts';
import type { Config } from '../../shared/domain/config/schema.ts';
import { parseKey, type SessionKey } from '../../shared/domain/keys/session-key.ts';
import { listFactsOf } from '../../shared/domain/projections/session-row.ts';
import type { IndexRow } from '../../shared/domain/projections/summary.ts';
import { commandForChat } from '../../shared/domain/routing/chat-answer.ts';
import { chatCommandIn } from '../../shared/domain/routing/chat-command.ts';
import { queueRuleOf } from '../../shared/domain/routing/queue-rule.ts';
import type { CommandOf, SessionCommand } from '../../shared/domain/session/commands.ts';
import type { QueueRule } from '../../shared/domain/values/types.ts';
import { occasionFor } from './commands.ts';

/** What somebody says to a session by way of the door. `literal`: no text of it is a chat command. */
export interface Said {
  readonly key: SessionKey;
  readonly at: number;
  readonly message: CommandOf<'post_message'>['message'];
  readonly principal: Principal;
  readonly literal: boolean;
  /** What it does when it finds a turn running. Default: as the configuration says (B6). */
  readonly mode?: QueueRule['mode'] | undefined;
}

/** The queue's rule for a session, by the channel that its key names. */
const queueRuleFor = ({ session }: Config, key: SessionKey): QueueRule =>
  queueRuleOf(session, parseKey(key, session.mainKey).channel);

/** The mode of a session's queue, as rows show it: that of the channel where it was used last. */
export const queueModeOf = (row: IndexRow, session: Config['session']): QueueRule['mode'] =>
  queueRuleOf(session, listFactsOf(row, session.mainKey).channel).mode;

/** What counts from the owner alone, or from the owner first of all. */
const ownersWord: ReadonlySet<string> = new Set(['send', 'approve', 'deny']);

/**
 * A message with a turn, or what its text commands (A11): who names the session is in it, so that a command need not be addressed. The
 * owner's token that speaks for nobody else says `/send`, `/approve` and `/deny` as the owner does (A5/62, A9/94); otherwise it is a program,
 * which takes part in nothing.
 */
export const commandSaid = (config: Config, { key, at, message, principal, literal, mode }: Said): SessionCommand => {
  const occasion = occasionFor(config, key, at);
  const { agent, session } = config;
  const chat = literal ? null : chatCommandIn(message.text, { triggers: session.resetTriggers, names: agent.names });
  if (chat === null) {
    return { type: 'post_message', ...occasion, message, queue: { ...queueRuleFor(config, key), ...(mode && { mode }) } };
  }
  const { messageId, deliverTo } = message;
  const isOwner = ownersWord.has(chat.type) && principal.role === 'owner' && message.sender.role === 'program';
  const sender = isOwner ? { ...message.sender, role: 'owner' as const } : message.sender;
  return commandForChat(chat, { key, occasion, sender, deliverTo, messageId, config, at });
};
