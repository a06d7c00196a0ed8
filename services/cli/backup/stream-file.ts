import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import { ArchiveReader, type Entry, stateName } from './archive.ts';
import type { FileEntry } from './manifest.ts';

/** What a file of a backup holds. */
interface Counted {
  readonly messages: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** Checks an archive as it goes by: whole frames, rising sequences, an end. */
class ArchiveCheck {
  readonly #reader = new ArchiveReader();
  readonly #each: (entry: Entry) => void;
  #messages = 0;
  #first = 0;
  #last = 0;

  constructor(each: (entry: Entry) => void) {
    this.#each = each;
  }

  push(piece: Uint8Array): void {
    for (const entry of this.#reader.push(piece)) {
      if (entry.name === stateName && entry.seq === 0) continue;
      if (entry.seq <= this.#last) throw new NatterError('invalid', `message ${entry.seq} comes after ${this.#last}`);
      this.#messages += 1;
      this.#first ||= entry.seq;
      this.#last = entry.seq;
      this.#each(entry);
    }
  }

  end(): Counted {
    this.#reader.end();
    return { messages: this.#messages, firstSeq: this.#first, lastSeq: this.#last };
  }
}

/** Writes a file of a backup: pieces of an archive, checked on the way. */
export class StreamFileWriter {
  readonly #hash = createHash('sha256');
  readonly #check: ArchiveCheck;
  readonly #file: string;
  readonly #handle: Awaited<ReturnType<typeof open>>;
  #bytes = 0;

  private constructor(file: string, handle: Awaited<ReturnType<typeof open>>, each: (entry: Entry) => void) {
    this.#file = file;
    this.#handle = handle;
    this.#check = new ArchiveCheck(each);
  }

  static async create(folder: string, file: string, each: (entry: Entry) => void = () => {}): Promise<StreamFileWriter> {
    return new StreamFileWriter(file, await open(join(folder, file), 'wx', 0o600), each);
  }

  async write(piece: Uint8Array): Promise<void> {
    this.#hash.update(piece);
    this.#check.push(piece);
    this.#bytes += piece.length;
    await this.#handle.writeFile(piece);
  }

  /** Throws `invalid` if the archive is not whole. */
  async end(): Promise<FileEntry & Counted> {
    const counted = this.#check.end();
    await this.#handle.sync();
    return { file: this.#file, bytes: this.#bytes, sha256: this.#hash.digest('hex'), ...counted };
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** The messages of a file, in order, in bounded memory. Throws `invalid` with the name of the file. */
export async function* messagesIn(folder: string, { file }: Pick<FileEntry, 'file'>): AsyncGenerator<Entry[]> {
  const reader = new ArchiveReader();
  try {
    for await (const piece of createReadStream(join(folder, file), { highWaterMark: 256 * 1024 }))
      yield reader.push(piece as Buffer).filter(({ name, seq }) => seq > 0 || name !== stateName);
    reader.end();
  } catch (error) {
    throw named(file, error);
  }
}

/** Reads a whole file and compares it with the manifest. Throws `invalid` with the name of the file. */
export const checkFile = async (
  folder: string,
  entry: FileEntry,
  each: (message: Entry) => void = () => {},
): Promise<Counted> => {
  const hash = createHash('sha256');
  const check = new ArchiveCheck(each);
  let bytes = 0;
  let problem: unknown = null;
  try {
    for await (const piece of createReadStream(join(folder, entry.file), { highWaterMark: 256 * 1024 })) {
      hash.update(piece as Buffer);
      bytes += (piece as Buffer).length;
      // The checksum decides; what a changed file seems to contain does not matter.
      if (problem === null) {
        try {
          check.push(piece as Buffer);
        } catch (error) {
          problem = error;
        }
      }
    }
    if (bytes !== entry.bytes) throw new NatterError('invalid', `it has ${bytes} bytes, not ${entry.bytes}`);
    if (hash.digest('hex') !== entry.sha256) throw new NatterError('invalid', 'it has another checksum than in manifest.json');
    if (problem !== null) throw problem;
    return check.end();
  } catch (error) {
    throw named(entry.file, error);
  }
};

const named = (file: string, error: unknown): NatterError =>
  new NatterError('invalid', `${file} of the backup cannot be used: ${errorMessage(error)}`, { cause: error });
