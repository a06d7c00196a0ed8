import type { SessionCommand } from '../session/commands.ts';
import type { ChatCommandContext } from './chat-answer.ts';

/** Notices that answer chat commands. */

export const noticeOf = <T extends string>(code: T, { deliverTo }: ChatCommandContext) => ({
  code,
  ...(deliverTo && { deliverTo }),
});

/** A text that changes nothing. */
export const noticeCommand = (code: string, text: string, context: ChatCommandContext): SessionCommand => ({
  type: 'post_notice',
  notice: { ...noticeOf(code, context), text },
});

/** The answer to a command that would change a session of others too (D7). */
export const ownersAlone = (word: string, context: ChatCommandContext): SessionCommand => {
  const text = `Nothing was changed: only the owner may use ${word} in a session that several people share.${nobodyIn(context)}`;
  return noticeCommand('owner_only', text, context);
};

/** What to set where nobody is the owner. */
export const nobodyIn = ({ config: { agent } }: ChatCommandContext): string =>
  agent.owners.length === 0 ? ' Nobody is named in agent.owners.' : '';
