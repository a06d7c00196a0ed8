/**
 * Lines of an IRC log, as `#ubuntu`'s public logs are written: `[HH:MM] <nick> text` is a message, `[HH:MM]  * nick text` an action. Lines
 * that start with `===` (joins, parts, changes of nick) and `[HH:MM] -nick:target- text` are notices, not messages.
 */
export type IrcLine =
  | { readonly kind: 'message' | 'action'; readonly minute: number; readonly nick: string; readonly text: string }
  | { readonly kind: 'notice' }
  | { readonly kind: 'blank' }
  | { readonly kind: 'unreadable' };

const said = /^\[(\d\d):(\d\d)\] <([^>\s]+)> ?(.*)$/su;
const did = /^\[(\d\d):(\d\d)\] {1,2}\* (\S+) ?(.*)$/su;
const notice = /^(?:===|\[\d\d:\d\d\] -\S+:\S+- )/u;

/** Reads one line without its line end. `minute` counts from 00:00. The text of an action is `* nick text`, as people see it. */
export const parseIrcLine = (line: string): IrcLine => {
  if (line.trim() === '') return { kind: 'blank' };
  const match = said.exec(line) ?? did.exec(line);
  if (match === null) return { kind: notice.test(line) ? 'notice' : 'unreadable' };
  const [, hour = '', minute = '', nick = '', text = ''] = match;
  if (Number(hour) > 23 || Number(minute) > 59) return { kind: 'unreadable' };
  const kind = line[8] === '<' ? 'message' : 'action';
  return {
    kind,
    minute: Number(hour) * 60 + Number(minute),
    nick,
    text: kind === 'action' ? `* ${nick} ${text}`.trimEnd() : text,
  };
};

/** Characters of a nick: a mention ends before any other character. */
const nickCharacter = '[\\p{L}\\p{N}_\\-\\[\\]\\\\`^{}|]';

/**
 * Tells whether a line addresses `nick`, as people do on IRC: it begins with the nick alone or with `nick:`, `nick,`, `nick;` or `nick->`, or
 * has `@nick` anywhere. Case does not matter. Talking *about* someone ("ask ubotu", "!ubotu") is not a mention.
 */
export const mentionOf = (nick: string): ((text: string) => boolean) => {
  const name = nick.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const pattern = new RegExp(`^\\s*${name}(?:->|[:,;]|[!?.]*(?:\\s|$))|(?:^|[^\\p{L}\\p{N}])@${name}(?!${nickCharacter})`, 'iu');
  return (text) => pattern.test(text);
};
