import { bareKey } from '../keys/session-key.ts';
import type { Sender } from './types.ts';

/** What people are called where somebody reads a session. `me`: the actor that the reader is in the log. */

/** How the log names the holders of the gateway's tokens; `api` is the installation's own, and `page:<whose>:<id>` that of a page. */
const holder = 'token:';
const page = /^token:page:([^:]+):[^:]+$/;

/** Who sends the messages of a token that is no person's, such as those typed in the terminal chat. */
export const writer = 'api';

/** Whether Natter itself says it to the agent. People choose their own ids, and none of them is a program. */
export const isNatters = (sender: Sender | undefined): boolean => sender?.id === 'natter' && sender.role === 'program';

/** The session that sent a message to another one: its key is the sender's id. */
export const sendingSession = (sender: Sender | undefined): string | undefined =>
  sender?.role === 'program' && sender.id.startsWith('agent:') ? sender.id : undefined;
export const isSubAgents = (sender: Sender | undefined): boolean => bareKey(sendingSession(sender) ?? '').startsWith('subagent:');

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

/** Those who hold a page's token by their role, and not by a token's name. */
const byRole: Readonly<Partial<Record<string, string>>> = { owner: 'the owner', approver: 'an approver' };

/** Who holds an actor's token, and the way: `the owner, on the page`, `phone, over the API`; `null`: it is no token's. */
const holderOf = (actor: string): string | null => {
  const whose = pageOf(actor);
  if (whose !== null) return `${byRole[whose] ?? whose}, on the page`;
  if (!actor.startsWith(holder)) return null;
  // The owner is whoever holds the installation's token.
  const name = actor.slice(holder.length);
  return `${name === 'api' ? byRole.owner : name}, over the API`;
};

/** Who decided, after a word such as "Denied": `by alice`; of a token the holder and the way; or `in the chat`, as a command. */
export const decidedBy = (by: string): string => (by === writer ? 'in the chat' : `by ${holderOf(by) ?? by}`);

/** Who said something: their name if the message has one, "You" for what the reader sent, else what it is. */
export const personNamed = (sender: Sender | undefined, actor: string | undefined, me: string | undefined): string => {
  if (sender?.name && sender.id !== writer) return sender.name;
  // What Natter itself asks of the agent is nobody's, whoever had it asked.
  if (isNatters(sender)) return 'Natter';
  if (sendingSession(sender) !== undefined) return isSubAgents(sender) ? 'Sub-agent' : 'Another session';
  if (isSamePerson(actor, me)) return 'You';
  if (sender?.role === 'owner' || (actor !== undefined && isOwnersPage(actor))) return ownerName;
  if (sender !== undefined && sender.id !== writer) return sender.id;
  return holderOf(actor ?? '')?.replace(/^the owner/, ownerName) ?? 'A program (API)';
};

/** Who decided, after a word such as "Denied": `by you` where the reader did, `by you in another sign-in` where it was another of theirs. */
export const decidedWords = (by: string, me: string | undefined): string => {
  if (!isSamePerson(by, me)) return decidedBy(by);
  return by === me ? 'by you' : 'by you in another sign-in';
};
