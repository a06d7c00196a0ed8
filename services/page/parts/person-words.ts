import { messageText } from '../../../shared/domain/prompt/sub-agent-message.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { attachedText } from '../../../shared/domain/values/attachment.ts';
import { decidedWords, personNamed } from '../../../shared/domain/values/person-words.ts';
import { plainSummary } from './event-words.ts';
import { oneLine, plainLine } from './one-line.ts';

const width = 100;
const verdictWords = { granted: 'allowed', denied: 'denied', expired: 'expired' } as const;

/** An event in a few words. Who said or decided something is called as in the chat. `me`: the actor that this page is in the log. */
export const eventSummary = (
  event: SessionEvent,
  actor: string | undefined,
  me: string | undefined,
  beside?: readonly SessionEvent[],
): string => {
  if (event.type === 'user_message') {
    const { sender, attachments } = event.message;
    const said = `${plainLine(messageText(event.message), width)} ${oneLine(attachedText(attachments), width)}`.trim();
    return `${personNamed(sender, actor, me)}: ${said}`;
  }
  if (event.type === 'approval_resolved') return `${verdictWords[event.verdict]} ${decidedWords(event.by, me)}`;
  return plainSummary(event, beside);
};
