import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { parseKey, type SessionKey } from '../../domain/keys/session-key.ts';
import { storeOf, transcriptName, transcriptSuffix } from '../../domain/projections/transcript-layout.ts';
import { headerStart, isLater, type TranscriptLine } from '../../domain/projections/transcript-line.ts';
import { limits } from '../../kit/limits.ts';
import { beginsAs, endOf, type FileEnd } from './file-end.ts';

/** New lines of one key, in log order. `erased`: everything before them must be removed (C9). */
export interface TranscriptNews {
  readonly key: SessionKey;
  readonly erased: boolean;
  readonly lines: readonly TranscriptLine[];
}

export interface TranscriptFilesOptions {
  /** As `session.store`. */
  readonly store: string;
  /** The lines of a key before a sequence, oldest first: to recreate a missing file. */
  before(key: SessionKey, seq: number): AsyncIterable<TranscriptLine>;
}

/** Files open at a time. */
const openFiles = 32;
/** Characters per write. */
const writtenCharacters = 1024 * 1024;

interface OpenFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly end: FileEnd;
}

/**
 * The transcripts in one store. Files are only appended to, and lines already in their file are skipped, so the same news may be
 * written again. Each file starts with a header of its key. Folders (0700) and files (0600) are accessible to the user only. For
 * one caller at a time.
 */
export class TranscriptFiles {
  readonly #options: TranscriptFilesOptions;
  /** The ends of files as last written, so that a file is read only once. */
  readonly #ends = new LRUCache<string, FileEnd & { readonly key: SessionKey }>({ max: limits.transcriptEnds });

  constructor(options: TranscriptFilesOptions) {
    this.#options = options;
  }

  /** Writes the news and syncs it to disk. Returns the number of new lines. */
  async write(news: Iterable<TranscriptNews>): Promise<number> {
    let written = 0;
    const opened: FileHandle[] = [];
    const changedFolders = new Set<string>();
    const sync = async (): Promise<void> => {
      await Promise.all(opened.splice(0).map((handle) => closedAfter(handle, handle.datasync())));
    };
    try {
      for (const { key, erased, lines } of news) {
        if (erased && (await this.#remove(key)) > 0) changedFolders.add(this.#folderOf(key));
        for (const [sessionId, its] of bySession(lines)) {
          const file = await this.#open(key, sessionId);
          opened.push(file.handle);
          if (file.end.size === 0) changedFolders.add(dirname(file.path));
          written += await this.#append(key, file, its);
          if (opened.length >= openFiles) await sync();
        }
      }
    } finally {
      await sync();
    }
    for (const folder of changedFolders) await syncFolder(folder);
    return written;
  }

  #folderOf(key: SessionKey): string {
    return storeOf(this.#options.store, parseKey(key).agentId).folder;
  }

  /** Opens the file for appending. If another key has a file of that name, a name unique to this key is used. */
  async #open(key: SessionKey, sessionId: string): Promise<OpenFile> {
    const folder = this.#folderOf(key);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const usual = await this.#openIf(key, join(folder, transcriptName(key, sessionId)));
    const file = usual ?? (await this.#openIf(key, join(folder, transcriptName(key, sessionId, true))));
    if (file === null) throw new Error(`the transcript of ${key} in ${folder} is not ours to write; move it away`);
    return file;
  }

  /** Opens the file and cuts off an unfinished line at its end; `null` if it belongs to another key. */
  async #openIf(key: SessionKey, path: string): Promise<OpenFile | null> {
    const handle = await open(path, 'a+', 0o600);
    try {
      const { size } = await handle.stat();
      const known = this.#ends.get(path);
      if (known?.size === size && known.key === key) return { path, handle, end: known };
      if (await beginsAs(handle, headerStart(key))) {
        const end = await endOf(handle, size);
        if (end.size < size) await handle.truncate(end.size);
        return { path, handle, end };
      }
    } catch (error) {
      await handle.close();
      throw error;
    }
    await handle.close();
    return null;
  }

  async #append(key: SessionKey, { path, handle, end }: OpenFile, lines: readonly TranscriptLine[]): Promise<number> {
    let { size, place } = end;
    let written = 0;
    let text = '';
    const flush = async (): Promise<void> => {
      await handle.appendFile(text);
      size += Buffer.byteLength(text);
      text = '';
    };
    for await (const line of size === 0 ? this.#fromHeader(key, lines) : lines) {
      if (place !== null && !isLater(line, place)) continue;
      text += `${line.text}\n`;
      place = line;
      written += 1;
      if (text.length >= writtenCharacters) await flush();
    }
    await flush();
    if (place !== null) this.#ends.set(path, { key, size, place: { seq: place.seq, index: place.index } });
    return written;
  }

  /**
   * All lines for a missing file, starting at its header. Without a header its owner could not be told, so nothing is written.
   */
  async *#fromHeader(key: SessionKey, lines: readonly TranscriptLine[]): AsyncGenerator<TranscriptLine> {
    const [first] = lines;
    if (first === undefined) return;
    const isWhole = first.generation !== undefined;
    let isBegun = false;
    for await (const line of isWhole ? lines : joined(this.#options.before(key, first.seq), lines)) {
      isBegun ||= line.sessionId === first.sessionId && line.generation !== undefined;
      if (isBegun && line.sessionId === first.sessionId) yield line;
    }
  }

  /** Removes all transcripts of the key, and returns their number. */
  async #remove(key: SessionKey): Promise<number> {
    const folder = this.#folderOf(key);
    const entries = await readdir(folder, { withFileTypes: true }).catch(nothingThere);
    let removed = 0;
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (!entry.isFile() || !entry.name.endsWith(transcriptSuffix) || !(await isOf(path, key))) continue;
      await rm(path);
      this.#ends.delete(path);
      removed += 1;
    }
    return removed;
  }
}

async function* joined<T>(first: AsyncIterable<T>, second: Iterable<T>): AsyncGenerator<T> {
  yield* first;
  yield* second;
}

const bySession = (lines: readonly TranscriptLine[]): Map<string, TranscriptLine[]> => {
  const groups = new Map<string, TranscriptLine[]>();
  for (const line of lines) {
    const group = groups.get(line.sessionId);
    if (group) group.push(line);
    else groups.set(line.sessionId, [line]);
  }
  return groups;
};

const nothingThere = (error: NodeJS.ErrnoException): [] => {
  if (error.code === 'ENOENT') return [];
  throw error;
};

const isOf = async (path: string, key: SessionKey): Promise<boolean> => {
  const handle = await open(path, 'r');
  try {
    return await beginsAs(handle, headerStart(key));
  } finally {
    await handle.close();
  }
};

const closedAfter = async (handle: FileHandle, work: Promise<void>): Promise<void> => {
  try {
    await work;
  } finally {
    await handle.close();
  }
};

/** Syncs the folder, so that its file names are as durable as the contents. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  await closedAfter(handle, handle.sync());
};
