const plainByte = /[A-Za-z0-9_:-]/;

/** Writes every UTF-8 byte outside `A-Za-z0-9_-` and `:` as `%XX`. Injective and byte-exact; `unescapeText` is its inverse. */
export const escapeText = (text: string): string => {
  if (/^[A-Za-z0-9_:-]*$/.test(text)) return text;
  let escaped = '';
  for (const byte of Buffer.from(text, 'utf8')) {
    const character = String.fromCharCode(byte);
    escaped += plainByte.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
};

export const unescapeText = (escaped: string): string => decodeURIComponent(escaped);
