/** How the log names the holders of the gateway's tokens; `api` is the installation's own, and `page:<whose>:<id>` that of a page. */
const holder = 'token:';
const page = /^token:page:([^:]+):[^:]+$/;

/** Who sends the messages of a token that is no person's, such as those typed in the terminal chat. */
const writer = 'api';

/** Whose page an actor's token is: the owner's, an approver's, or that of whoever holds the token named; `null`: it is not a page's. */
export const pageOf = (actor: string): string | null => page.exec(actor)?.[1] ?? null;

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
