import type { FileHandle } from 'node:fs/promises';
import { type EventPosition, placeOf } from '../../domain/projections/transcript-line.ts';

/** What is at the two ends of a file of lines: the little that has to be read of it. */

const lineFeed = 10;
/** Bytes read at first; twice as many each time the line is longer. */
const firstBytes = 16 * 1024;

const bytesOf = async (handle: FileHandle, position: number, length: number): Promise<Buffer> => {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead);
};

/** True if the file begins with `start`, or is a piece of it that somebody could not finish. */
export const beginsAs = async (handle: FileHandle, start: string): Promise<boolean> => {
  const expected = Buffer.from(start);
  const bytes = await bytesOf(handle, 0, expected.length);
  return bytes.equals(expected.subarray(0, bytes.length));
};

/** Bytes of whole lines in a file, and the place of the last one; `null` if there is none, or somebody else wrote it. */
export interface FileEnd {
  readonly size: number;
  readonly place: EventPosition | null;
}

/** Finds the end of the last whole line. What is behind it was not finished. */
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
