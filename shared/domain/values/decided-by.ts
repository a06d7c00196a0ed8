/** How the log names the holders of the gateway's tokens; `api` is the installation's own. */
const holder = 'token:';

/** Who decided, after a word such as "Denied": `by alice`, or of a token, which is no person's name, `over the API`. */
export const decidedBy = (by: string): string => {
  if (by === 'api' || by === `${holder}api`) return 'over the API';
  return by.startsWith(holder) ? `over the API (token ${by.slice(holder.length)})` : `by ${by}`;
};
