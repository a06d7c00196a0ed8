import { NatterError } from '../../../shared/kit/errors.ts';

/**
 * S2 (Snappy's framing with longer repeats), in which a broker packs its snapshots. Reads all of it; writes frames without compression,
 * which every S2 reader takes.
 */

const broken = (what: string): NatterError => new NatterError('invalid', `not an S2 stream: ${what}`);

const streamStart = Buffer.from([0xff, 6, 0, 0, ...Buffer.from('S2sTwO')]);
const [compressedFrame, plainFrame, firstSkippable] = [0x00, 0x01, 0x80];
/** Largest block of the format. */
const blockBytes = 4 * 1024 ** 2;

const tables: readonly Uint32Array[] = (() => {
  const first = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    return crc;
  });
  const all = [first];
  for (let n = 1; n < 4; n++) {
    const before = all[n - 1] ?? first;
    all.push(before.map((crc) => (crc >>> 8) ^ (first[crc & 0xff] ?? 0)));
  }
  return all;
})();
const [table0, table1, table2, table3] = tables as [Uint32Array, Uint32Array, Uint32Array, Uint32Array];

/** CRC-32C, masked as the format wants it. */
const checksum = (bytes: Uint8Array): number => {
  let crc = 0xffffffff;
  let at = 0;
  const fours = bytes.length - (bytes.length % 4);
  for (; at < fours; at += 4) {
    const word =
      crc ^
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24));
    crc =
      (table3[word & 0xff] as number) ^
      (table2[(word >>> 8) & 0xff] as number) ^
      (table1[(word >>> 16) & 0xff] as number) ^
      (table0[word >>> 24] as number);
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ (table0[(crc ^ (bytes[at] as number)) & 0xff] as number);
  const sum = ~crc >>> 0;
  return (((sum >>> 15) | (sum << 17)) + 0xa282ead8) >>> 0;
};

/** Unpacks a stream piece by piece. */
export class S2Reader {
  #rest: Buffer = Buffer.alloc(0);

  /** The unpacked bytes of all frames that are complete now. Throws `invalid` on anything that is not S2, or that has changed. */
  push(piece: Uint8Array): Buffer[] {
    this.#rest =
      this.#rest.length === 0 ? Buffer.from(piece.buffer, piece.byteOffset, piece.length) : Buffer.concat([this.#rest, piece]);
    const blocks: Buffer[] = [];
    let at = 0;
    while (this.#rest.length - at >= 4) {
      const kind = this.#rest.readUInt8(at);
      const end = at + 4 + this.#rest.readUIntLE(at + 1, 3);
      if (end > this.#rest.length) break;
      if (kind === compressedFrame || kind === plainFrame) blocks.push(unpack(kind, this.#rest.subarray(at + 4, end)));
      else if (kind < firstSkippable) throw broken(`a frame of kind ${kind}`);
      at = end;
    }
    this.#rest = this.#rest.subarray(at);
    return blocks;
  }

  /** Throws `invalid` if the stream ends within a frame. */
  end(): void {
    if (this.#rest.length > 0) throw broken('it ends within a frame');
  }
}

const unpack = (kind: number, frame: Buffer): Buffer => {
  if (frame.length < 4) throw broken('a frame is too short');
  const packed = frame.subarray(4);
  const block = kind === plainFrame ? packed : decompress(packed);
  if (checksum(block) !== frame.readUInt32LE(0)) throw broken('a block has another checksum');
  return block;
};

/** Reads one block: literals, and copies of what came before. */
const decompress = (from: Buffer): Buffer => {
  let at = 0;
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = from[at++] ?? 0;
    length += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
    if (shift > 28) throw broken('a block has no length');
  }
  if (length > blockBytes) throw broken('a block is too long');
  const to = Buffer.allocUnsafe(length);
  let done = 0;
  let offset = 0;
  const little = (bytes: number): number => {
    if (at + bytes > from.length) throw broken('a block is cut off');
    const value = from.readUIntLE(at, bytes);
    at += bytes;
    return value;
  };
  while (at < from.length) {
    const tag = from[at++] as number;
    let count = tag >>> 2;
    if ((tag & 3) === 0) {
      count = 1 + (count < 60 ? count : little(count - 59));
      if (at + count > from.length || done + count > length) throw broken('a literal is too long');
      from.copy(to, done, at, at + count);
      at += count;
      done += count;
      continue;
    }
    if ((tag & 3) === 1) {
      const near = ((tag & 0xe0) << 3) | little(1);
      count &= 7;
      // Offset 0 repeats the last one; the length may be longer then.
      if (near !== 0) offset = near;
      else if (count >= 5) count = little(count - 4) + (count === 5 ? 4 : count === 6 ? 1 << 8 : 1 << 16);
      count += 4;
    } else {
      count += 1;
      offset = little((tag & 3) === 2 ? 2 : 4);
    }
    if (offset === 0 || offset > done || done + count > length) throw broken('a copy reaches outside of its block');
    if (offset >= count) to.copyWithin(done, done - offset, done - offset + count);
    else for (let n = 0; n < count; n++) to[done + n] = to[done + n - offset] as number;
    done += count;
  }
  if (done !== length) throw broken('a block is too short');
  return to;
};

/** The beginning of a stream. */
export const s2Start: Uint8Array = streamStart;

/** Frames of these bytes, without compression. */
export const s2Frames = (bytes: Buffer): Buffer => {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += frameBytes) {
    const block = bytes.subarray(at, at + frameBytes);
    const head = Buffer.alloc(8);
    head.writeUInt8(plainFrame, 0);
    head.writeUIntLE(block.length + 4, 1, 3);
    head.writeUInt32LE(checksum(block), 4);
    parts.push(head, block);
  }
  return Buffer.concat(parts);
};
const frameBytes = 256 * 1024;
