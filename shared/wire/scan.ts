import { limits } from '../kit/limits.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const proto = Buffer.from('__proto__');

/**
 * Walks a MessagePack message without building anything. Returns what is wrong with it, or `null`. It refuses, before the decoder
 * sees them: extension types (msgpackr would build RegExps, Sets and record definitions from untrusted bytes), the unused byte
 * 0xc1, nesting and item counts over our limits, map keys that are not text, `__proto__`, truncation and trailing bytes (F17),
 * and invalid UTF-8: the decoder would replace it by U+FFFD, so that two ids could become one.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one table of MessagePack's types, and it runs for every message
export const scan = (bytes: Uint8Array): string | null => {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.byteLength;
  let at = 0;
  let items = 0;

  const need = (length: number): void => {
    if (at + length > end) throw new RangeError('is cut off');
  };
  const unsigned = (width: 1 | 2 | 4): number => {
    need(width);
    const value = width === 1 ? data.getUint8(at) : width === 2 ? data.getUint16(at) : data.getUint32(at);
    at += width;
    return value;
  };
  const skip = (length: number): void => {
    need(length);
    at += length;
  };
  const text = (length: number): void => {
    const start = at;
    skip(length);
    for (let i = start; i < at; i++) if (data.getUint8(i) >= 0x80) return foreign(bytes.subarray(start, at));
  };
  const foreign = (part: Uint8Array): void => {
    try {
      utf8.decode(part);
    } catch {
      throw new RangeError('has text that is not valid UTF-8');
    }
  };
  const collection = (count: number, depth: number, keyed: boolean): void => {
    if (depth >= limits.decodeDepth) throw new RangeError(`is nested deeper than ${limits.decodeDepth}`);
    items += count;
    if (items > limits.decodeItems) throw new RangeError(`has more than ${limits.decodeItems} items`);
    for (let i = 0; i < count; i++) {
      if (keyed) key();
      value(depth + 1);
    }
  };
  const key = (): void => {
    need(1);
    const type = data.getUint8(at);
    const start = at;
    if (!((type >= 0xa0 && type <= 0xbf) || (type >= 0xd9 && type <= 0xdb)))
      throw new RangeError('has a map key that is not text');
    value(0);
    if (isProto(start)) throw new RangeError('has the key "__proto__"');
  };
  /** True if the key ends with these nine bytes. Compares byte by byte, because this runs for every key of every message. */
  const isProto = (start: number): boolean => {
    if (at - start <= proto.length) return false;
    for (let i = 1; i <= proto.length; i++) if (data.getUint8(at - i) !== proto.at(-i)) return false;
    return true;
  };

  const value = (depth: number): void => {
    const type = unsigned(1);
    if (type <= 0x7f || type >= 0xe0) return;
    if (type <= 0x8f) return collection(type & 0x0f, depth, true);
    if (type <= 0x9f) return collection(type & 0x0f, depth, false);
    if (type <= 0xbf) return text(type & 0x1f);
    switch (type) {
      case 0xc0:
      case 0xc2:
      case 0xc3:
        return;
      case 0xc4:
        return skip(unsigned(1));
      case 0xc5:
        return skip(unsigned(2));
      case 0xc6:
        return skip(unsigned(4));
      case 0xd9:
        return text(unsigned(1));
      case 0xda:
        return text(unsigned(2));
      case 0xdb:
        return text(unsigned(4));
      case 0xca:
      case 0xce:
      case 0xd2:
        return skip(4);
      case 0xcb:
      case 0xcf:
      case 0xd3:
        return skip(8);
      case 0xcc:
      case 0xd0:
        return skip(1);
      case 0xcd:
      case 0xd1:
        return skip(2);
      case 0xdc:
        return collection(unsigned(2), depth, false);
      case 0xdd:
        return collection(unsigned(4), depth, false);
      case 0xde:
        return collection(unsigned(2), depth, true);
      case 0xdf:
        return collection(unsigned(4), depth, true);
      default:
        throw new RangeError(`has the type byte 0x${type.toString(16)}, which is not allowed`);
    }
  };

  try {
    value(0);
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
  return at === end ? null : `has ${end - at} bytes after its end`;
};
