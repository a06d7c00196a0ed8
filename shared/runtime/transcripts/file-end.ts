import type { FileHandle } from 'node:fs/promises';
import { type EventPosition, placeOf } from '../../domain/projections/transcript-line.ts';

/** Reads the beginning and the end of a file of lines, without the rest. */

const lineFeed = 10;
/** Bytes of the first read; doubled as long as the line is longer. */
const firstBytes = 16 * 1024;

const bytesOf = async (handle: FileHandle, position: number, length: number): Promise<Buffer> => {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead);
};

/** True if the file starts with `start`, or is an unfinished piece of it. */
export const beginsAs = async (handle: FileHandle, start: string): Promise<boolean> => {
  const expected = Buffer.from(start);
  const bytes = await bytesOf(handle, 0, expected.length);
  return bytes.equals(expected.subarray(0, bytes.length));
};

/** Bytes of complete lines in a file, and the position of the last line; `null` if there is none or it is not ours. */
export interface FileEnd {
  readonly size: number;
  readonly place: EventPosition | null;
}

/** Finds the end of the last complete line. Anything after it was not finished. */
export const endOf = async (handle: FileHandle, size: number): Promise<FileEnd> => {
  for (let length = firstBytes; ; length *= 2) {
    const position = Math.max(0, size - length);
    const bytes = await bytesOf(handle, position, size - position);
    const end = bytes.lastIndexOf(lineFeed);
    const start = end <= 0 ? -1 : bytes.lastIndexOf(lineFeed, end - 1);
    if (position > 0 && (end === -1 || start === -1)) continue;
    return { size: position + end + 1, place: end === -1 ? null : placeOf(bytes.toString('utf8', start + 1, end)) };
  }
};
