import type { Sender } from '../../../shared/client/main.ts';
import { decidedBy } from '../../../shared/domain/values/decided-by.ts';
import { who } from '../base/signed-in.ts';
import { hostOf, isHost } from './host.ts';

/** What people call who said something: their name if the message has one, "You" for what this page sent, else what it is. */
export const personOf = (sender: Sender | undefined, actor: string | undefined): string => {
  if (sender?.name) return sender.name;
  if (actor !== undefined && actor === who.value?.actor) return 'You';
  if (sender?.role === 'owner') return 'Owner';
  if (sender === undefined || sender.id === 'api') return 'A program (API)';
  return sender.id;
};

/** Who decided, after a word such as "Denied": `by you` where this page did. */
export const decidedText = (by: string): string => (by === who.value?.actor ? 'by you' : decidedBy(by));

/** Who recorded a commit: `by you`, `over the API`, `by ann`, or `by the host session-1`. */
export const actorText = (actor: string): string => (isHost(actor) ? `by the host ${hostOf(actor)}` : decidedText(actor));
