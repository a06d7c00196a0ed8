import type { Sender } from '../../../shared/client/main.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { decidedBy, pageOf } from '../../../shared/domain/values/decided-by.ts';
import { plainSummary } from './event-words.ts';
import { oneLine } from './one-line.ts';

/** What people are called on the page. `me`: the actor that this page is in the log. */

/** Who said something: their name if the message has one, "You" for what this page sent, else what it is. */
export const personNamed = (sender: Sender | undefined, actor: string | undefined, me: string | undefined): string => {
  if (sender?.name) return sender.name;
  if (actor !== undefined && actor === me) return 'You';
  if (sender?.role === 'owner' || (actor !== undefined && pageOf(actor) === 'owner')) return 'Owner';
  if (sender === undefined || sender.id === 'api') return 'A program (API)';
  return sender.id;
};

/** Who decided, after a word such as "Denied": `by you` where this page did. */
export const decidedWords = (by: string, me: string | undefined): string => (by === me ? 'by you' : decidedBy(by));

const width = 100;
const verdictWords = { granted: 'allowed', denied: 'denied', expired: 'expired' } as const;

/** An event in a few words. Who said or decided something is called as in the chat. */
export const eventSummary = (event: SessionEvent, actor: string | undefined, me: string | undefined): string => {
  if (event.type === 'user_message')
    return `${personNamed(event.message.sender, actor, me)}: ${oneLine(event.message.text, width)}`;
  if (event.type === 'approval_resolved') return `${verdictWords[event.verdict]} ${decidedWords(event.by, me)}`;
  return plainSummary(event);
};
