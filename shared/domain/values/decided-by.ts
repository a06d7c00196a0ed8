/** How the log names the holders of the gateway's tokens; `api` is the installation's own. */
const holder = 'token:';

/** Who sends the messages of a token that is no person's, such as those typed in the terminal chat. */
const writer = 'api';

/** Who decided, after a word such as "Denied": `by alice`; where only a token did, how: `over the API`, or `in the chat`, as a command. */
export const decidedBy = (by: string): string => {
  if (by === writer) return 'in the chat';
  if (by === `${holder}api`) return 'over the API';
  return by.startsWith(holder) ? `over the API (token ${by.slice(holder.length)})` : `by ${by}`;
};
