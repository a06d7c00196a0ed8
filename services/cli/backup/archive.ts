import { NatterError } from '../../../shared/kit/errors.ts';
import { S2Reader, s2Frames, s2Start } from './s2.ts';

/**
 * The archive in which a broker (from 2.15 on) sends a stream: `state.json`, then the stored messages in order, then an empty entry. All of
 * it is packed as S2.
 */

/** One stored message; of `state.json` and of the end, `seq` is 0. */
export interface Entry {
  /** The stored subject. */
  readonly name: string;
  readonly seq: number;
  /** When it was stored, in nanoseconds. */
  readonly timeNanos: bigint;
  /** As on the wire, from `NATS/1.0` to the empty line; empty if it has none. */
  readonly header: Buffer;
  readonly payload: Buffer;
}
/** What the archive says about its stream. */
export interface ArchiveState {
  readonly messages: number;
  readonly bytes: number;
  readonly first_seq: number;
  readonly last_seq: number;
}

const magic = Buffer.from('NATSARC1');
export const stateName = 'state.json';
const none = Buffer.alloc(0);
/** Larger than any message of ours. */
const entryBytes = 16 * 1024 ** 2;

const broken = (what: string): NatterError => new NatterError('invalid', `not a snapshot of a stream: ${what}`);

/** Reads an archive piece by piece, in bounded memory. */
export class ArchiveReader {
  readonly #s2 = new S2Reader();
  #rest: Buffer = none;
  #begun = false;
  #ended = false;

  /** The entries that are complete now. Throws `invalid`, or `unsupported` for the format of an older broker. */
  push(piece: Uint8Array): Entry[] {
    const blocks = this.#s2.push(piece);
    if (blocks.length === 0) return [];
    this.#rest = Buffer.concat([this.#rest, ...blocks]);
    const cursor = new Cursor(this.#rest);
    if (!this.#begun && this.#rest.length >= magic.length) {
      if (!cursor.take(magic.length)?.equals(magic))
        throw new NatterError(
          'unsupported',
          'the snapshot has the format of an older broker; nats-server 2.15 or newer is needed',
        );
      this.#begun = true;
    }
    const entries: Entry[] = [];
    for (let at = cursor.at; this.#begun; at = cursor.at) {
      const entry = entryAt(cursor);
      if (entry === null) {
        cursor.at = at;
        break;
      }
      if (this.#ended) throw broken('it goes on after its end');
      if (entry.name === '') this.#ended = true;
      else entries.push(entry);
    }
    this.#rest = this.#rest.subarray(cursor.at);
    if (this.#rest.length > entryBytes) throw broken('an entry is too long');
    return entries;
  }

  /** Throws `invalid` if the archive has been cut off. */
  end(): void {
    this.#s2.end();
    if (!this.#ended || this.#rest.length > 0) throw broken('it is cut off');
  }
}

/** A place in bytes that may not all be there yet: `null` where they end. */
class Cursor {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  take(length: number): Buffer | null {
    const end = this.at + length;
    if (end > this.#bytes.length) return null;
    const taken = this.#bytes.subarray(this.at, end);
    this.at = end;
    return taken;
  }

  /** Up to 2^53 exactly. */
  number(): number | null {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes[this.at];
      if (byte === undefined) return null;
      this.at += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      if (factor > 2 ** 56) throw broken('a number is too long');
    }
  }

  /** A signed number of 64 bits. */
  signed(): bigint | null {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#bytes[this.at];
      if (byte === undefined) return null;
      this.at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value & 1n ? -((value + 1n) >> 1n) : value >> 1n;
      if (shift > 63n) throw broken('a time is too long');
    }
  }
}

const entryAt = (cursor: Cursor): Entry | null => {
  const nameLength = cursor.number();
  const timeNanos = nameLength === null ? null : cursor.signed();
  const seq = timeNanos === null ? null : cursor.number();
  const headerLength = seq === null ? null : cursor.number();
  const payloadLength = headerLength === null ? null : cursor.number();
  if (nameLength === null || timeNanos === null || seq === null || headerLength === null || payloadLength === null) return null;
  if (nameLength + headerLength + payloadLength > entryBytes) throw broken('an entry is too long');
  const name = cursor.take(nameLength);
  const header = name && cursor.take(headerLength);
  const payload = header && cursor.take(payloadLength);
  return name && header && payload ? { name: name.toString(), seq, timeNanos, header, payload } : null;
};

/** Packs entries. What it returns is to be written one after the other. */
export class ArchiveWriter {
  #waiting: Buffer[] = [];
  #bytes = 0;

  /** The beginning, with the state of the stream. */
  start(state: ArchiveState): Buffer {
    const payload = Buffer.from(JSON.stringify(state));
    return Buffer.concat([
      s2Start,
      s2Frames(Buffer.concat([magic, encoded({ name: stateName, seq: 0, timeNanos: 0n, header: none, payload })])),
    ]);
  }

  /** `null` until there is enough to write. */
  add(entry: Entry): Buffer | null {
    const bytes = encoded(entry);
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    return this.#bytes < packBytes ? null : this.#flush();
  }

  end(): Buffer {
    this.#waiting.push(encoded({ name: '', seq: 0, timeNanos: 0n, header: none, payload: none }));
    return this.#flush();
  }

  #flush(): Buffer {
    const packed = s2Frames(Buffer.concat(this.#waiting));
    this.#waiting = [];
    this.#bytes = 0;
    return packed;
  }
}
const packBytes = 128 * 1024;

const encoded = ({ name, seq, timeNanos, header, payload }: Entry): Buffer => {
  const nameBytes = Buffer.from(name);
  const time = timeNanos < 0n ? -timeNanos * 2n - 1n : timeNanos * 2n;
  const numbers = [BigInt(nameBytes.length), time, BigInt(seq), BigInt(header.length), BigInt(payload.length)];
  return Buffer.concat([Buffer.from(numbers.flatMap(varint)), nameBytes, header, payload]);
};

const varint = (value: bigint): number[] => {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 0x80n) return [...bytes, Number(rest)];
    bytes.push(Number(rest & 0x7fn) | 0x80);
  }
};
