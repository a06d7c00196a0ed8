import { createHash } from 'node:crypto';
import { commitOf, type StoredMessage, storedCommit } from '../../../shared/adapters/streams/stored-message.ts';
import { type ChainLink, chainBreak, chainStart, linkAfter, startsAnew } from '../../../shared/domain/session/chain.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import type { Subjects } from '../../../shared/wire/subjects.ts';
import type { LogEntry } from './manifest.ts';

const mostBreaks = 100;

/** Follows the chain of every session through a log. Its memory grows with the number of sessions, not with the log. */
export class LogCheck {
  readonly #subjects: Subjects;
  readonly #links = new Map<string, ChainLink>();
  readonly #digest = createHash('sha256');
  #breaks: { readonly key: string; readonly what: string }[] = [];
  #commits = 0;
  #events = 0;
  #lastDigest: string | null = null;

  constructor(subjects: Subjects) {
    this.#subjects = subjects;
  }

  /** Takes the next message of the log. `null` if it is not a commit, which counts as a break, unless it is a place that was given up. */
  take(message: StoredMessage): RecordedCommit | null {
    if (message.subject === this.#subjects.lost) return null;
    let commit: RecordedCommit;
    try {
      commit = commitOf(message, this.#subjects);
    } catch (error) {
      this.#broken(storedCommit(message, this.#subjects).key, errorMessage(error));
      return null;
    }
    // What is missing before it was erased, or a person has decided about it.
    if (startsAnew(commit)) this.#breaks = this.#breaks.filter(({ key }) => key !== commit.key);
    const last = this.#links.get(commit.key) ?? chainStart;
    const broken = chainBreak(last, commit);
    if (broken !== null)
      this.#broken(commit.key, `commit ${commit.seq} (rev ${commit.rev}) of ${commit.key} after rev ${last.rev}: ${broken}`);
    this.#links.set(commit.key, linkAfter(last, commit));
    this.#commits += 1;
    this.#events += commit.events.length;
    this.#lastDigest = commit.digest;
    this.#digest.update(`${commit.seq} ${commit.digest}\n`);
    return commit;
  }

  /** What was found. To be called once, at the end. */
  result(): LogEntry {
    return {
      commits: this.#commits,
      events: this.#events,
      sessions: this.#links.size,
      digest: this.#digest.digest('hex'),
      lastDigest: this.#lastDigest,
      breaks: this.#breaks.map(({ what }) => what),
    };
  }

  #broken(key: string, what: string): void {
    if (this.#breaks.length < mostBreaks) this.#breaks.push({ key, what });
  }
}
