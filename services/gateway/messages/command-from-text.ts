import type { Principal } from '../../../shared/domain/access/access.ts';
import type { Config } from '../../../shared/domain/config/schema.ts';
import { parseKey, type SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { listFactsOf } from '../../../shared/domain/projections/session-row.ts';
import { commandForChat } from '../../../shared/domain/routing/chat-answer.ts';
import { chatCommandIn } from '../../../shared/domain/routing/chat-command.ts';
import { queueRuleOf } from '../../../shared/domain/routing/queue-rule.ts';
import type { CommandOf, SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { QueueRule } from '../../../shared/domain/values/queue-rule.ts';
import { isStranger } from '../../../shared/domain/values/queue-share.ts';
import { occasionFor } from '../commands/envelope.ts';

/** A text for a session. `literal`: it is never a chat command. */
export interface TextInput {
  readonly key: SessionKey;
  readonly at: number;
  readonly message: CommandOf<'post_message'>['message'];
  readonly principal: Principal;
  readonly literal: boolean;
  /** Whether the speaker may change the session (D7). Asked of chat commands only: it may read the log. */
  mayChange(): Promise<boolean>;
  /** Approves the code of the owner's `/pair`, and says what came of it (D8). */
  pair(code: string): Promise<string>;
  /** Several people share the session (D7). */
  readonly isShared: boolean;
  /** What happens if a turn is running. Default: as configured (B6). */
  readonly mode?: QueueRule['mode'] | undefined;
}

/** The queue's rule for a session, by the channel that its key names. */
const queueRuleFor = ({ session }: Config, key: SessionKey): QueueRule =>
  queueRuleOf(session, parseKey(key, session.mainKey).channel);

/** The mode of a session's queue, as rows show it: by the channel where it was last used. */
export const queueModeOf = (row: IndexRow, session: Config['session']): QueueRule['mode'] =>
  row.settings.queueMode ?? queueRuleOf(session, listFactsOf(row, session.mainKey).channel).mode;

/** The same for a message of a call, which has no channel but the one in the key. */
export const queueModeByCall = ({ key, settings }: Pick<IndexRow, 'key' | 'settings'>, config: Config): QueueRule['mode'] =>
  settings.queueMode ?? queueRuleFor(config, key).mode;

/** Chat commands that depend on being the owner. */
const ownersWord: ReadonlySet<string> = new Set(['send', 'approve', 'deny', 'pair']);

/**
 * The command for a text: a message with a turn, or the chat command in it (A11). The caller names the session, so a chat command need not
 * address the agent. The owner's own token gives `/send`, `/approve`, `/deny` and `/pair` as the owner (A5/62, A9/94, D8); otherwise it is a program, which
 * takes part in nothing.
 */
export const commandFromText = async (
  config: Config,
  { key, at, message, principal, literal, mayChange, pair, isShared, mode }: TextInput,
): Promise<SessionCommand> => {
  const occasion = occasionFor(config, key, at);
  const { agent, session } = config;
  const chat = literal ? null : chatCommandIn(message.text, { triggers: session.resetTriggers, names: agent.names });
  if (chat === null) {
    const queue = {
      ...queueRuleFor(config, key),
      ...(mode && { mode, chosen: true as const }),
      ...(isShared && isStranger(message.sender) && { shared: true as const }),
    };
    return { type: 'post_message', ...occasion, message, queue };
  }
  const { messageId, deliverTo } = message;
  const isOwner = ownersWord.has(chat.type) && principal.role === 'owner' && message.sender.role === 'program';
  const sender = isOwner ? { ...message.sender, role: 'owner' as const } : message.sender;
  const paired = chat.type === 'pair' && isOwner ? await pair(chat.code) : undefined;
  return commandForChat(chat, { key, occasion, sender, mayChange: await mayChange(), paired, deliverTo, messageId, config, at });
};
