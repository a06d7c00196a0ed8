import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { createRoute } from '../../../shared/domain/routing/route.ts';
import { isErasure } from '../../../shared/domain/session/chain.ts';
import type { CommandEnvelope, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { decodeCommand, decodeInbound } from '../../../shared/wire/codec.ts';
import { type Subjects, subjectsUnder } from '../../../shared/wire/subjects.ts';
import type { Entry } from './archive.ts';
import type { ListedErasure } from './erasure-list.ts';

export interface WaitingOptions {
  readonly config: Config;
  /** When the backup's stream of commands was made, ms. */
  readonly commandsCreatedAt: number;
  readonly erasures: readonly ListedErasure[];
}

/**
 * What waited in the queues of a backup, compared with its log: `note` each message, then `compare` each commit, then ask. The queues were
 * taken before the log, so some of it is done there; and what is erased since must not be done any more. Its memory grows with what waits,
 * not with the log.
 */
export class WaitingMessages {
  readonly #options: WaitingOptions;
  readonly #commandIn: (entry: Entry) => CommandEnvelope | null;
  readonly #subjects: Subjects;
  readonly #ids = new Set<string>();
  readonly #queuedIds = new Set<string>();
  readonly #keys = new Set<SessionKey>();
  readonly #doneIds = new Set<string>();
  readonly #doneSeqs = new Map<SessionKey, number>();
  readonly #erasedAt = new Map<SessionKey, number>();

  constructor(options: WaitingOptions) {
    this.#options = options;
    this.#subjects = subjectsUnder(options.config.prefix);
    this.#commandIn = commandReader(options.config, this.#subjects);
  }

  /** One message of a queue or of the timers. */
  note(entry: Entry): void {
    const command = this.#commandIn(entry);
    if (command === null) return;
    this.#ids.add(command.id);
    if (this.#isCommand(entry)) this.#queuedIds.add(command.id);
    this.#keys.add(command.key);
  }

  /** One commit of the log. */
  compare(commit: RecordedCommit): void {
    const { id, seq, incarnation } = commit.command;
    if (this.#ids.has(id)) this.#doneIds.add(id);
    if (isErasure(commit)) this.#erasedAt.set(commit.key, commit.at);
    if (seq !== null && incarnation === this.#options.commandsCreatedAt && this.#keys.has(commit.key))
      this.#doneSeqs.set(commit.key, seq);
  }

  /** The erasures that the log does not have. */
  missingErasures(): readonly ListedErasure[] {
    return this.#options.erasures.filter(({ key, at }) => (this.#erasedAt.get(key) ?? -1) < at);
  }

  /** Tells which messages still wait. `storedSeq` is a command's place in the stream of commands. */
  waiting(): (entry: Entry, storedSeq?: number) => boolean {
    const erased = new Set(this.missingErasures().map(({ key }) => key));
    return (entry, storedSeq) => {
      // An anchor: it serves the broker that it was on.
      if (this.#subjects.queueOf(entry.name) === null) return false;
      const command = this.#commandIn(entry);
      if (command === null) return true;
      const { id, key } = command;
      if (this.#doneIds.has(id) || erased.has(key)) return false;
      // A timer or an envelope that has become a command already.
      if (!this.#isCommand(entry)) return !this.#queuedIds.has(id);
      return storedSeq === undefined || storedSeq > (this.#doneSeqs.get(key) ?? 0);
    };
  }

  #isCommand({ name }: Entry): boolean {
    const waits = this.#subjects.queueOf(name);
    return waits?.queue === 'commands' && !waits.timed;
  }
}

/** The command that a message of a queue is or will be; `null` for other messages. */
const commandReader = (config: Config, subjects: Subjects): ((entry: Entry) => CommandEnvelope | null) => {
  const route = createRoute(config);
  return ({ name, timeNanos, payload }) => {
    try {
      const queue = subjects.queueOf(name)?.queue;
      if (queue === 'commands') return decodeCommand(payload);
      if (queue !== 'inbound') return null;
      const routed = route(decodeInbound(payload), Number(timeNanos / 1_000_000n));
      return 'command' in routed ? routed.command : null;
    } catch {
      // The queue's own handler decides about what cannot be read.
      return null;
    }
  };
};
