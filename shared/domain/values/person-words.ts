import type { Sender } from './types.ts';

/** What people are called where somebody reads a session. `me`: the actor that the reader is in the log. */

/** How the log names the holders of the gateway's tokens; `api` is the installation's own, and `page:<whose>:<id>` that of a page. */
const holder = 'token:';
const page = /^token:page:([^:]+):[^:]+$/;

/** Who sends the messages of a token that is no person's, such as those typed in the terminal chat. */
export const writer = 'api';

/** Whether Natter itself says it to the agent. People choose their own ids, and none of them is a program. */
export const isNatters = (sender: Sender | undefined): boolean => sender?.id === 'natter' && sender.role === 'program';

/** Whose page an actor's token is: the owner's, an approver's, or that of whoever holds the token named; `null`: it is not a page's. */
const pageOf = (actor: string): string | null => page.exec(actor)?.[1] ?? null;

/** What the owner is called, whom the log knows by their page's token alone. */
export const ownerName = 'Owner';
export const isOwnersPage = (actor: string): boolean => pageOf(actor) === 'owner';

/** Whether two actors are one person: so are the pages that were opened with one token, except those of approvers, who may be several. */
const isSamePerson = (actor: string | undefined, me: string | undefined): boolean => {
  if (actor === undefined || me === undefined) return false;
  const whose = pageOf(actor);
  return actor === me || (whose !== null && whose !== 'approver' && whose === pageOf(me));
};

const onPage = (whose: string): string => {
  if (whose === 'owner') return 'on the page by the owner';
  return whose === 'approver' ? 'on the page by an approver' : `on the page (token ${whose})`;
};

/** Who decided, after a word such as "Denied": `by alice`; where only a token did, how: `on the page by the owner`, `over the API`, or `in the chat`, as a command. */
export const decidedBy = (by: string): string => {
  const whose = pageOf(by);
  if (whose !== null) return onPage(whose);
  if (by === writer) return 'in the chat';
  if (by === `${holder}api`) return 'over the API';
  return by.startsWith(holder) ? `over the API (token ${by.slice(holder.length)})` : `by ${by}`;
};

/** Who said something: their name if the message has one, "You" for what the reader sent, else what it is. */
export const personNamed = (sender: Sender | undefined, actor: string | undefined, me: string | undefined): string => {
  if (sender?.name && sender.id !== writer) return sender.name;
  // What Natter itself asks of the agent is nobody's, whoever had it asked.
  if (isNatters(sender)) return 'Natter';
  if (isSamePerson(actor, me)) return 'You';
  if (sender?.role === 'owner' || (actor !== undefined && isOwnersPage(actor))) return ownerName;
  if (sender === undefined || sender.id === writer) return 'A program (API)';
  return sender.id;
};

/** Who decided, after a word such as "Denied": `by you` where the reader did. */
export const decidedWords = (by: string, me: string | undefined): string => (isSamePerson(by, me) ? 'by you' : decidedBy(by));
