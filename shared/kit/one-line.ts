/** Text of strangers for one line that a person decides by: nothing in it can hide, reorder or imitate anything. */

/** Control and format characters, lone surrogates, what is not assigned, and every white space but the plain space. */
const hiding = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
const escapeOf = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/** At most about `characters` long; what is left out is left out of the middle and says how much it was. */
export const oneLine = (text: string, characters = 200): string => {
  const whole = text.length <= characters;
  const side = Math.floor(characters / 2);
  const shown = whole ? text : `${text.slice(0, side)} … ${text.length - 2 * side} characters … ${text.slice(-side)}`;
  return shown.replace(hiding, escapeOf);
};

/** Characters of what a person is asked: under the 2,000 of `approval_requested`, escapes included or not. */
export const questionCharacters = 1_500;

/** What a person is asked, of lines that are made safe already: what is too long says that something is left out. */
export const question = (line: string): string => (line.length <= questionCharacters ? line : oneLine(line, questionCharacters));

/** In quotation marks, so that its beginning and end are seen; a list of texts keeps its commas outside of them. */
export const quoted = (value: string | readonly string[], characters = 200): string => oneLine(JSON.stringify(value), characters);
