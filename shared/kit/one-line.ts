/** Makes untrusted text safe for a line that a person decides by: it can hide, reorder or imitate nothing. */

/** Control and format characters, lone surrogates, unassigned characters, and all white space except the plain space. */
const unsafeCharacters = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
const escapeOf = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/**
 * Shortens `text` to about `characters` by cutting the middle, with a note of how much was cut, and escapes unsafe characters.
 */
export const oneLine = (text: string, characters = 200): string => {
  const whole = text.length <= characters;
  const side = Math.floor(characters / 2);
  const shown = whole ? text : `${text.slice(0, side)} … ${text.length - 2 * side} characters … ${text.slice(-side)}`;
  return shown.replace(unsafeCharacters, escapeOf);
};

/** Characters of the question in an approval: below the 2,000 of `approval_requested`, with room for escapes. */
export const questionCharacters = 1_500;

/** The question of an approval, from a line that is already safe. A long line is shortened with a note. */
export const question = (line: string): string => (line.length <= questionCharacters ? line : oneLine(line, questionCharacters));

/**
 * `value` in quotation marks, so that its beginning and end are visible; the commas between the items of a list stay outside of
 * them.
 */
export const quoted = (value: string | readonly string[], characters = 200): string => oneLine(JSON.stringify(value), characters);
