import type { Config } from '../../shared/config/schema.ts';
import type { Principal } from '../../shared/policy/access.ts';
import { commandForChat } from '../../shared/routing/chat-answer.ts';
import { chatCommandIn } from '../../shared/routing/chat-command.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import type { CommandOf, SessionCommand } from '../../shared/session/commands.ts';
import { occasionFor } from './commands.ts';

/** What somebody says to a session by way of the door. `literal`: no text of it is a chat command. */
export interface Said {
  readonly key: SessionKey;
  readonly at: number;
  readonly message: CommandOf<'post_message'>['message'];
  readonly principal: Principal;
  readonly literal: boolean;
}

/**
 * A message with a turn, or what its text commands (A11): who names the session is in it, so that a command need not be addressed. The
 * owner's token that speaks for nobody else may say `/send` as the owner may (A9/94); otherwise it is a program, which takes part in nothing.
 */
export const commandSaid = (config: Config, { key, at, message, principal, literal }: Said): SessionCommand => {
  const occasion = occasionFor(config, key, at);
  const { agent, session } = config;
  const chat = literal ? null : chatCommandIn(message.text, { triggers: session.resetTriggers, names: agent.names });
  if (chat === null) return { type: 'post_message', ...occasion, message };
  const { messageId, deliverTo } = message;
  const isOwner = chat.type === 'send' && principal.role === 'owner' && message.sender.role === 'program';
  const sender = isOwner ? { ...message.sender, role: 'owner' as const } : message.sender;
  return commandForChat(chat, { key, occasion, sender, deliverTo, messageId, config, at });
};
