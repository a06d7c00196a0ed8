import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { EventType } from '../../domain/session/events.ts';
import { headlineOf } from '../../domain/session/headline.ts';
import type { Clock } from '../../kit/clock.ts';
import { errorMessage } from '../../kit/errors.ts';
import type { AppendResult, EventLog } from '../../ports/event-log.ts';
import { digestOf, encodeCommit } from '../../wire/codec.ts';
import { GroupCommit, type GroupedWrite, type Grouping, ungrouped } from '../streams/group-commit.ts';
import { arrives, type CallOutcome, type Faults } from './faults.ts';
import type { KeptMessage, KeptMessages } from './kept-messages.ts';

export interface LogWritesOptions {
  readonly clock: Clock;
  readonly faults: Faults;
  readonly replicated: boolean;
  readonly timeoutMs: number;
  readonly kept: KeptMessages;
  /** Off only in tests that prove what the fences in a group are for: then a group is stored whatever the log holds. */
  readonly groupFences: boolean;
  readonly store: (headline: EventType, key: SessionKey, data: Uint8Array) => KeptMessage;
  /** Resolves after `ms`, with whether the connection has held. */
  readonly pass: (ms: number) => Promise<boolean>;
  /** How often it has broken. */
  readonly breaks: () => number;
}

interface Write extends GroupedWrite {
  readonly id: string;
  readonly key: SessionKey;
  readonly headline: EventType;
  readonly data: Uint8Array;
  readonly expectedSeq: number;
  /** How often the connection had broken when it began to wait. */
  readonly breaks: number;
}

/** As in `topology.ts`. */
const duplicateWindowMs = 120_000;

/** What is written to the log in memory, with the broker's failure modes, one by one and in groups. */
export class LogWrites {
  readonly #options: LogWritesOptions;
  /** Groups of several commits so far. */
  readonly groups = { stored: 0, refused: 0 };
  readonly #recent = new Map<string, Pick<KeptMessage, 'seq' | 'time'>>();
  /** Replicated: by key, the id of the write that the replicas are agreeing on. */
  readonly #inFlight = new Map<string, string>();

  constructor(options: LogWritesOptions) {
    this.#options = options;
  }

  /** How one more process appends: only its own commits go together, those that come within `turnMs` like those of one moment. */
  writer(grouping: Grouping = ungrouped, turnMs = 0): EventLog['append'] {
    const { clock, faults } = this.#options;
    const commits = new GroupCommit<Write, AppendResult>({
      clock,
      grouping,
      soon: (send) => (turnMs === 0 ? queueMicrotask(send) : void clock.sleep(turnMs).then(send)),
      one: (write) => this.#attempt(faults.next('append'), () => (this.#isLost(write) ? lost : this.#write(write))),
      together: (writes) => this.#attemptTogether(writes),
    });
    return async (commit, expectedSeq) => {
      let write: Write;
      try {
        const data = encodeCommit(commit);
        write = {
          id: commit.id,
          key: commit.key,
          bytes: data.length,
          headline: headlineOf(commit.events),
          data,
          expectedSeq,
          breaks: this.#options.breaks(),
        };
      } catch (error) {
        return { kind: 'refused', message: errorMessage(error) };
      }
      return commits.write(write);
    };
  }

  /** One call, as its fate will have it. */
  async #attempt<R>({ fault, delayMs, lateMs }: CallOutcome, write: () => R | Promise<R>): Promise<R | AppendResult> {
    const { clock, pass, timeoutMs } = this.#options;
    if (!(await pass(delayMs))) return lost;
    if (arrives.has(fault)) return write();
    if (fault === 'unavailable') return unknown('unavailable: no leader');
    if (fault === 'answer_lost') void write();
    if (fault === 'landed_late') void pass(timeoutMs + lateMs).then(async (there) => there && write());
    await clock.sleep(timeoutMs);
    return unknown('unknown: no answer in time');
  }

  async #attemptTogether(writes: readonly Write[]): Promise<readonly AppendResult[] | 'refused'> {
    const fate = this.#options.faults.next('group');
    const result = await this.#attempt(fate, async () => {
      if (writes.some((write) => this.#isLost(write))) return writes.map(() => lost);
      return fate.fault === 'incomplete' ? 'refused' : this.#writeTogether(writes);
    });
    if (writes.length > 1 && result === 'refused') this.groups.refused += 1;
    if (writes.length > 1 && Array.isArray(result)) this.groups.stored += 1;
    return typeof result === 'object' && 'kind' in result ? writes.map(() => result) : result;
  }

  /** Checks in the broker's order: only a replicated stream checks the id before the expected sequence. */
  async #write(write: Write): Promise<AppendResult> {
    const { kept, replicated } = this.#options;
    const { id, key, expectedSeq } = write;
    const repeat = this.#repeatOf(id);
    if (replicated && this.#inFlight.get(key) === id) return unknown('unknown: 10158 the same id is being written');
    if (replicated && repeat) return unknown(`the log has this id already, as ${repeat.seq}`);
    if (kept.fencedSeqOf(key) !== expectedSeq) return unknown('conflict: 10071 wrong last sequence');
    if (repeat) return unknown(`the log has this id already, as ${repeat.seq}`);
    if (this.#inFlight.has(key)) return unknown('conflict: 10164 wrong last sequence');
    if (replicated && !(await this.#agree([write]))) return lost;
    return this.#store(write);
  }

  /** All or none. As at the broker, each is compared only with what was stored before the group. */
  async #writeTogether(writes: readonly Write[]): Promise<readonly AppendResult[] | 'refused'> {
    const { kept, groupFences, replicated } = this.#options;
    const isFenced = ({ key, expectedSeq }: Write): boolean => kept.fencedSeqOf(key) !== expectedSeq || this.#inFlight.has(key);
    if (writes.some(({ id }) => this.#repeatOf(id)) || (groupFences && writes.some(isFenced))) return 'refused';
    if (replicated && !(await this.#agree(writes))) return writes.map(() => lost);
    return writes.map((write) => this.#store(write));
  }

  /** Replicas agree on what is written before it is stored; false: the broker stopped before they had. */
  async #agree(writes: readonly Write[]): Promise<boolean> {
    for (const { key, id } of writes) this.#inFlight.set(key, id);
    const isThere = await this.#options.pass(0);
    for (const { key } of writes) this.#inFlight.delete(key);
    return isThere;
  }

  #store({ id, key, headline, data }: Write): AppendResult {
    const { seq, time } = this.#options.store(headline, key, data);
    this.#recent.set(id, { seq, time });
    return { kind: 'stored', seq, digest: digestOf(data) };
  }

  /** What waited while the connection broke was never sent. */
  #isLost({ breaks }: Write): boolean {
    return breaks !== this.#options.breaks();
  }

  #repeatOf(id: string): Pick<KeptMessage, 'seq'> | undefined {
    const first = this.#recent.get(id);
    return first !== undefined && this.#options.clock.now() - first.time < duplicateWindowMs ? first : undefined;
  }
}

const unknown = (cause: string): AppendResult => ({ kind: 'unknown', cause });
const lost = unknown('unknown: the connection broke');
