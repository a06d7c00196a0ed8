/** What no line that a person decides by may hold: control and format characters, and white space that is neither a space nor a line's end. */
const unsafe = /[\p{Zl}\p{Zp}]|(?!\n)\p{C}|(?! )\p{Zs}/u;
const plainWord = /^[\w@%+=:,./-]+$/;
const word = (text: string): string => (plainWord.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/**
 * The action of `exec` as a person writes it in a shell, and where it runs: `run ["sh","-c","date"] in the workspace` is `sh -c date`, in
 * `the workspace`. `null` for any other action, and for one that such a line could misrepresent.
 */
export const commandOf = (action: string): { readonly command: string; readonly place: string } | null => {
  const [, list, place] = /^run (\[".*"\]) in ([a-z ]+)$/su.exec(action) ?? [];
  if (list === undefined || place === undefined) return null;
  try {
    const words = JSON.parse(list) as unknown;
    if (!Array.isArray(words) || !words.every((each) => typeof each === 'string' && !unsafe.test(each))) return null;
    return { command: words.map((each: string) => word(each)).join(' '), place };
  } catch {
    return null;
  }
};

/** Where a command runs, in words that say why its folder is empty. */
export const placeText = (place: string): string =>
  place === 'an empty folder' ? 'an empty working folder, as the agent has no workspace' : place;

/** What waits for an answer, as a person reads it: the command, else the action as it is told. */
export const actionText = (action: string): string => commandOf(action)?.command ?? action;
