import type { Config } from '../config/schema.ts';
import { resolveModel } from '../policy/model-name.ts';
import type { CommandOf, SessionCommand } from '../session/commands.ts';
import type { DeliveryTarget, Sender } from '../session/types.ts';
import type { ChatCommand } from './chat-command.ts';
import type { SessionKey } from './session-key.ts';

/** What becomes of a chat command: A4/53–55, A9/94, A11/123–125. */

/** A chat command's circumstances. `sender.role` has been resolved by the configuration; `at` in ms. */
export interface Asked {
  readonly key: SessionKey;
  readonly occasion: Pick<CommandOf<'open_session'>, 'sessionId' | 'source' | 'origin' | 'expiry'>;
  readonly sender: Sender;
  readonly deliverTo?: DeliveryTarget | undefined;
  readonly messageId: string;
  readonly config: Config;
  readonly at: number;
}

/**
 * Who may give chat commands. In a direct chat everybody who may write there; in a group the owner, and others only when they address
 * the agent: an unaddressed `/new` may be meant for another bot. `/send` is the owner's alone everywhere and is refused with a notice.
 */
export const mayCommand = (given: {
  readonly direct: boolean;
  readonly addressed: boolean;
  readonly role: Sender['role'];
}): boolean => given.direct || given.addressed || given.role === 'owner';

/** The one session command that a chat command becomes. */
export const commandForChat = (chat: ChatCommand, asked: Asked): SessionCommand => {
  const { occasion, sender, deliverTo, messageId, config } = asked;
  const notice = (code: string) => ({ code, ...(deliverTo && { deliverTo }) });
  switch (chat.type) {
    case 'reset': {
      const [word = ''] = chat.rest.split(/\s/u, 1);
      const named = resolveModel(word, config);
      const model = named && 'model' in named ? named.model : undefined;
      const rest = model === undefined ? chat.rest : chat.rest.slice(word.length).trim();
      const text = rest === '' ? 'Say hello.' : rest;
      return {
        type: 'reset',
        ...occasion,
        cause: { trigger: 'command', rule: chat.word },
        ...(model !== undefined && { settings: { model } }),
        message: { messageId, text, sender, ...(deliverTo && { deliverTo }) },
      };
    }
    case 'stop':
      return { type: 'stop', reason: '/stop', notice: notice('stopped') };
    default:
      return { type: 'post_notice', notice: { ...notice(chat.type), text: chat.type } };
  }
};
