import type { Sender } from '../../../shared/client/main.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { decidedWords, personNamed } from '../../../shared/domain/values/person-words.ts';
import { who } from '../base/signed-in.ts';
import { hostOf, isHost } from './host.ts';
import { eventSummary } from './person-words.ts';

/** What people call who said something, as this page knows them. */
export const personOf = (sender: Sender | undefined, actor: string | undefined): string =>
  personNamed(sender, actor, who.value?.actor);

/** Who decided, after a word such as "Denied": `by you` where this page did, `by you in another sign-in` where an earlier or another one did. */
export const decidedText = (by: string): string => decidedWords(by, who.value?.actor);

/** Who recorded a commit: `by you`, `by ann`, `by phone, over the API`, `by a checkpoint`, or `by the host session-1`. */
export const actorText = (actor: string): string => {
  if (actor === 'introspection') return 'by a checkpoint';
  return isHost(actor) ? `by the host ${hostOf(actor)}` : decidedText(actor);
};

/** An event in a few words, with people called as in the chat. `beside`: the events of its commit, where they are known. */
export const eventText = (event: SessionEvent, actor?: string, beside?: readonly SessionEvent[]): string =>
  eventSummary(event, actor, who.value?.actor, beside);
