/**
 * Reads MessagePack as Natter writes it (docs/integrate/wire.md): plain data, no extension types. The library that the gateway uses tries to
 * make code at run time, which the page's policy forbids and reports.
 */

const deepest = 100;
/** Bytes. */
const shortText = 32;
const ownField = { enumerable: true, configurable: true, writable: true };
const text = new TextDecoder('utf-8', { fatal: true });

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  value(depth = 0): unknown {
    if (depth > deepest) throw new RangeError('it is too deep');
    const tag = this.#number(1);
    if (tag < 0x80) return tag;
    if (tag < 0x90) return this.#map(tag & 15, depth);
    if (tag < 0xa0) return this.#list(tag & 15, depth);
    if (tag < 0xc0) return this.#text(tag & 31);
    if (tag >= 0xe0) return tag - 0x100;
    return this.#tagged(tag, depth);
  }

  #tagged(tag: number, depth: number): unknown {
    switch (tag) {
      case 0xc0:
        return null;
      case 0xc2:
      case 0xc3:
        return tag === 0xc3;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#take(this.#number(1 << (tag - 0xc4)));
      case 0xca:
        return this.#view.getFloat32(this.#skip(4));
      case 0xcb:
        return this.#view.getFloat64(this.#skip(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#number(1 << (tag - 0xcc));
      case 0xcf:
        return Number(this.#view.getBigUint64(this.#skip(8)));
      case 0xd0:
        return this.#view.getInt8(this.#skip(1));
      case 0xd1:
        return this.#view.getInt16(this.#skip(2));
      case 0xd2:
        return this.#view.getInt32(this.#skip(4));
      case 0xd3:
        return Number(this.#view.getBigInt64(this.#skip(8)));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#number(1 << (tag - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#list(this.#number(2 << (tag - 0xdc)), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#number(2 << (tag - 0xde)), depth);
      default:
        throw new RangeError(`it has the type 0x${tag.toString(16)}`);
    }
  }

  /** Throws `RangeError` where the bytes end too early. */
  #skip(count: number): number {
    const from = this.#at;
    if (from + count > this.#bytes.length) throw new RangeError('it ends too early');
    this.#at += count;
    return from;
  }

  #take(count: number): Uint8Array {
    const from = this.#skip(count);
    return this.#bytes.subarray(from, from + count);
  }

  #number(bytes: number): number {
    const from = this.#skip(bytes);
    let value = 0;
    for (let at = from; at < from + bytes; at++) value = value * 256 + (this.#bytes[at] as number);
    return value;
  }

  #text(bytes: number): string {
    return (bytes <= shortText ? this.#ascii(bytes) : null) ?? text.decode(this.#take(bytes));
  }

  /** A text of these bytes, unless one of them is no ASCII: the decoder takes longer to call than a short text to read. */
  #ascii(bytes: number): string | null {
    const from = this.#at;
    let found = '';
    for (let at = from; at < from + bytes; at++) {
      const byte = this.#bytes[at];
      if (byte === undefined || byte >= 0x80) return null;
      found += String.fromCharCode(byte);
    }
    this.#at = from + bytes;
    return found;
  }

  #list(count: number, depth: number): unknown[] {
    const list: unknown[] = [];
    for (let index = 0; index < count; index++) list.push(this.value(depth + 1));
    return list;
  }

  #map(count: number, depth: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    for (let index = 0; index < count; index++) {
      const name = String(this.value(depth + 1));
      const value = this.value(depth + 1);
      // It would set the object's prototype.
      if (name === '__proto__') Object.defineProperty(map, name, { value, ...ownField });
      else map[name] = value;
    }
    return map;
  }
}

/** The one value in these bytes. Throws `RangeError` and `TypeError` for anything else. */
export const unpack = (bytes: Uint8Array): unknown => {
  const reader = new Reader(bytes);
  const value = reader.value();
  if (!reader.isAtEnd) throw new RangeError('something follows it');
  return value;
};
