import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import {
  breakText,
  type ChainLink,
  chainBreak,
  chainStart,
  endProblem,
  linkAfter,
} from '../../../shared/domain/session/chain.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { nameBy, nameOf } from '../finding/session-name.ts';
import { hash } from '../fold/sha256.ts';
import { unpack } from '../fold/unpack.ts';

/**
 * Reads a file of `natter export --stored`, or the JSON lines that the transcript downloads, and follows the chain of each session as
 * `natter verify` does (F13). Needs no server.
 */

/** A session of the file. `problem`: what is missing or changed, or `null`. */
export interface FileSession {
  readonly key: string;
  /** What people call it, by its commits. */
  readonly name: string;
  readonly commits: readonly RecordedCommit[];
  readonly problem: string | null;
  /** The stored bytes are there, so a change of any of them would be seen. */
  readonly isVerified: boolean;
}

interface Open {
  readonly key: string;
  row: IndexRow | null;
  readonly commits: RecordedCommit[];
  last: ChainLink;
  problem: string | null;
  isVerified: boolean;
}

type Line = Readonly<Record<string, unknown>>;

const bytesIn = (base64: string): Uint8Array => {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
};

const isCommit = (fields: Partial<RecordedCommit>): fields is RecordedCommit =>
  typeof fields.key === 'string' && Number.isSafeInteger(fields.rev) && Array.isArray(fields.events);

/** Its digest is that of its bytes, whatever it says itself. */
const storedCommit = ({ seq, recordedAt, bytes }: Line): RecordedCommit => {
  const raw = bytesIn(String(bytes));
  const digest = hash('sha256', raw, 'base64url').slice(0, 22);
  // Onto the new object: to spread it would take as long as to unpack it.
  const commit = Object.assign(unpack(raw) as object, { seq, recordedAt, digest, sizeBytes: raw.byteLength });
  if (!isCommit(commit as Partial<RecordedCommit>)) throw new TypeError('it is no commit');
  return commit as unknown as RecordedCommit;
};

/** A damaged commit changes nothing: it is told as the problem that it is. */
const rowAfter = (row: IndexRow | null, commit: RecordedCommit): IndexRow | null => {
  try {
    return summarize(row, commit);
  } catch {
    return row;
  }
};
const nameIn = ({ key, row }: Pick<Open, 'key' | 'row'>): string =>
  row === null ? nameBy(key) : nameOf({ ...row, shownKey: key });

/** Writes a file that can be looked at here. */
export const exportCommand = 'natter export KEY --stored --out main.jsonl';
const waysToFile = `what “Download JSONL” of a transcript gave, or what this wrote: ${exportCommand}`;

/** How the Markdown of a session begins each message. */
const markdownHead = /^## .+, \d{4}-\d\d-\d\dT/;

/** Takes the lines of a file, one after the other. */
export class ExportFile {
  #isMarkdown = false;
  readonly #sessions: FileSession[] = [];
  #open: Open | null = null;
  #number = 0;

  take(text: string): void {
    this.#number += 1;
    if (text.trim() === '') return;
    const line = this.#parsed(text);
    if (this.#sessions.length === 0 && this.#open === null && markdownHead.test(text)) this.#isMarkdown = true;
    if (line === null) this.#fail('it is not a line of an export');
    else if (typeof line.begin === 'string') this.#begin(line.begin, true);
    else if ('end' in line) this.#end(line);
    else this.#commit(line);
  }

  /** The sessions of the file. Throws `Error` for a file that has none. */
  end(): readonly FileSession[] {
    if (this.#open?.isVerified) this.#fail('its end is missing: the file was cut');
    this.#close();
    if (this.#sessions.length > 0) return this.#sessions;
    if (this.#isMarkdown)
      throw new Error(`it is Markdown, which is for people to read; choose JSON lines instead: ${waysToFile}`);
    throw new Error(`it has no session; choose JSON lines: ${waysToFile}`);
  }

  #parsed(text: string): Line | null {
    try {
      const line: unknown = JSON.parse(text);
      return typeof line === 'object' && line !== null ? (line as Line) : null;
    } catch {
      return null;
    }
  }

  #begin(key: string, isVerified: boolean): void {
    if (this.#open?.isVerified) this.#fail('the end of the session before it is missing');
    this.#close();
    this.#open = { key, row: null, commits: [], last: chainStart, problem: null, isVerified };
  }

  #commit(line: Line): void {
    let commit: RecordedCommit;
    try {
      commit = 'bytes' in line ? storedCommit(line) : (line as unknown as RecordedCommit);
      if (!isCommit(commit)) throw new TypeError('it is not a line of an export');
    } catch (error) {
      return this.#fail(error instanceof Error ? error.message : String(error));
    }
    if (!('bytes' in line) && this.#open?.key !== commit.key) this.#begin(commit.key, false);
    const open = this.#open;
    if (open === null) return;
    if (open.key !== commit.key) return this.#fail(`it says that it belongs to ${commit.key}`);
    const broken = chainBreak(open.last, commit);
    if (broken !== null) this.#fail(breakText[broken](open.last.rev, commit.rev));
    open.last = linkAfter(open.last, commit);
    open.commits.push(commit);
    open.row = rowAfter(open.row, commit);
  }

  #end({ end, commits, rev, digest }: Line): void {
    const open = this.#open;
    if (open === null) return;
    const stated = {
      key: String(end),
      commits: Number(commits),
      rev: Number(rev),
      digest: digest === null ? null : String(digest),
    };
    const problem = endProblem({ ...open.last, key: open.key, commits: open.commits.length }, stated);
    if (problem !== null) this.#fail(problem);
    this.#close();
  }

  #fail(problem: string): void {
    if (this.#open !== null) this.#open.problem ??= `line ${this.#number}: ${problem}`;
  }

  #close(): void {
    if (this.#open !== null) this.#sessions.push({ ...this.#open, name: nameIn(this.#open) });
    this.#open = null;
  }
}
