import { limits } from '../kit/limits.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const proto = Buffer.from('__proto__');

/**
 * Walks a MessagePack message without building anything. Returns what is wrong with it, or `null`. It refuses, before the decoder
 * sees them: extension types (msgpackr would build RegExps, Sets and record definitions from untrusted bytes), the unused byte
 * 0xc1, nesting and item counts over our limits, map keys that are not text, `__proto__`, truncation and trailing bytes (F17),
 * and invalid UTF-8: the decoder would replace it by U+FFFD, so that two ids could become one.
 */
export const scan = (bytes: Uint8Array): string | null => {
  const walk = new Walk(bytes);
  try {
    walk.value(0);
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
  return walk.rest === 0 ? null : `has ${walk.rest} bytes after its end`;
};

/** A place in a message. A class, and no function within `scan`: it runs for every message, and those would be made anew for each. */
class Walk {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at = 0;
  #items = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#end = bytes.length;
  }

  /** Bytes that are left. */
  get rest(): number {
    return this.#end - this.#at;
  }

  value(depth: number): void {
    const type = this.#unsigned(1);
    if (type <= 0x7f || type >= 0xe0) return;
    if (type <= 0x8f) return this.#collection(type & 0x0f, depth, true);
    if (type <= 0x9f) return this.#collection(type & 0x0f, depth, false);
    if (type <= 0xbf) return this.#text(type & 0x1f);
    switch (type) {
      case 0xc0:
      case 0xc2:
      case 0xc3:
        return;
      case 0xc4:
        return this.#skip(this.#unsigned(1));
      case 0xc5:
        return this.#skip(this.#unsigned(2));
      case 0xc6:
        return this.#skip(this.#unsigned(4));
      case 0xd9:
        return this.#text(this.#unsigned(1));
      case 0xda:
        return this.#text(this.#unsigned(2));
      case 0xdb:
        return this.#text(this.#unsigned(4));
      case 0xca:
      case 0xce:
      case 0xd2:
        return this.#skip(4);
      case 0xcb:
      case 0xcf:
      case 0xd3:
        return this.#skip(8);
      case 0xcc:
      case 0xd0:
        return this.#skip(1);
      case 0xcd:
      case 0xd1:
        return this.#skip(2);
      case 0xdc:
        return this.#collection(this.#unsigned(2), depth, false);
      case 0xdd:
        return this.#collection(this.#unsigned(4), depth, false);
      case 0xde:
        return this.#collection(this.#unsigned(2), depth, true);
      case 0xdf:
        return this.#collection(this.#unsigned(4), depth, true);
      default:
        throw new RangeError(`has the type byte 0x${type.toString(16)}, which is not allowed`);
    }
  }

  #collection(count: number, depth: number, keyed: boolean): void {
    if (depth >= limits.decodeDepth) throw new RangeError(`is nested deeper than ${limits.decodeDepth}`);
    this.#items += count;
    if (this.#items > limits.decodeItems) throw new RangeError(`has more than ${limits.decodeItems} items`);
    for (let i = 0; i < count; i++) {
      if (keyed) this.#key();
      this.value(depth + 1);
    }
  }

  #key(): void {
    this.#need(1);
    const start = this.#at;
    const type = this.#bytes[start] as number;
    if (!((type >= 0xa0 && type <= 0xbf) || (type >= 0xd9 && type <= 0xdb)))
      throw new RangeError('has a map key that is not text');
    this.value(0);
    if (this.#isProto(start)) throw new RangeError('has the key "__proto__"');
  }

  /** True if the key ends with these nine bytes. Compares byte by byte, because this runs for every key of every message. */
  #isProto(start: number): boolean {
    if (this.#at - start <= proto.length) return false;
    for (let i = 1; i <= proto.length; i++) if (this.#bytes[this.#at - i] !== proto[proto.length - i]) return false;
    return true;
  }

  #text(length: number): void {
    const start = this.#at;
    this.#skip(length);
    for (let i = start; i < this.#at; i++)
      if ((this.#bytes[i] as number) >= 0x80) return checkForeign(this.#bytes.subarray(start, this.#at));
  }

  #unsigned(width: 1 | 2 | 4): number {
    this.#need(width);
    let value = 0;
    for (const end = this.#at + width; this.#at < end; this.#at++) value = value * 256 + (this.#bytes[this.#at] as number);
    return value;
  }

  #skip(length: number): void {
    this.#need(length);
    this.#at += length;
  }

  #need(length: number): void {
    if (this.#at + length > this.#end) throw new RangeError('is cut off');
  }
}

const checkForeign = (text: Uint8Array): void => {
  try {
    utf8.decode(text);
  } catch {
    throw new RangeError('has text that is not valid UTF-8');
  }
};
