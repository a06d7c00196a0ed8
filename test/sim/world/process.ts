import type { InMemoryEventLog } from '../../../shared/adapters/in-memory/event-log.ts';
import type { InMemoryKeyValue } from '../../../shared/adapters/in-memory/kv-store.ts';
import type { InMemorySystem } from '../../../shared/adapters/in-memory/open.ts';
import { createCursors } from '../../../shared/adapters/kv/cursors.ts';
import { guardedCache } from '../../../shared/adapters/kv/guards/guarded-bucket.ts';
import { LogGuard } from '../../../shared/adapters/kv/guards/log-guard.ts';
import { createWritersWitness, type WritersWitness } from '../../../shared/adapters/kv/guards/writers-witness.ts';
import { openIndexView } from '../../../shared/adapters/kv/index-view.ts';
import type { KeyValue } from '../../../shared/adapters/kv/key-value.ts';
import { createLeases } from '../../../shared/adapters/kv/leases.ts';
import { createMemoryStore } from '../../../shared/adapters/kv/memory/memory-store.ts';
import { createSessionIndex } from '../../../shared/adapters/kv/session-index.ts';
import { createSnapshots } from '../../../shared/adapters/kv/snapshots.ts';
import { LogTail } from '../../../shared/adapters/streams/log-tail.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { CommandEnvelope, Commit, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { PlainState } from '../../../shared/domain/session/fold/evolve.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import type { Answers } from '../../../shared/ports/answers.ts';
import type { Cursors } from '../../../shared/ports/cursors.ts';
import type { AppendResult, EventLog } from '../../../shared/ports/event-log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { SessionIndex } from '../../../shared/ports/session-index.ts';
import type { Snapshots } from '../../../shared/ports/snapshots.ts';
import type { WorkQueue } from '../../../shared/ports/work-queue.ts';
import type { SimOptions } from './options.ts';

/**
 * One process of the system, as the kernel sees it. Everything it does goes through its ports, and each call waits at a gate on its way out
 * and back: a paused process stands still there until it goes on, not knowing that time has passed; a dead one never moves again.
 */
export class Process {
  readonly name: string;
  state: 'live' | 'paused' | 'dead' = 'live';
  readonly died = new AbortController();
  /** Resolves after the first look at the log, before which a process does nothing. */
  looked: Promise<void> = Promise.resolve();
  /** It has worked with a part of the log that a person has accepted as lost. */
  asksForRestart = false;
  /** It has had a log that it trusts. */
  sawLog = false;
  /** Called when the connection to the broker of the log breaks. */
  disconnected: () => void = () => {};
  #resumed: Promise<void> = Promise.resolve();
  #resume: () => void = () => {};

  constructor(name: string) {
    this.name = name;
  }

  pause(): void {
    this.state = 'paused';
    this.#resumed = new Promise((resolve) => {
      this.#resume = resolve;
    });
  }
  resume(): void {
    this.state = 'live';
    this.#resume();
  }
  kill(): void {
    this.state = 'dead';
    this.died.abort();
  }

  /** Resolves when the process may go on. */
  async gate(): Promise<void> {
    while (this.state === 'paused') await this.#resumed;
    if (this.state === 'dead') await new Promise(() => {});
  }
  async through<T>(call: () => Promise<T>): Promise<T> {
    await this.gate();
    try {
      return await call();
    } finally {
      await this.gate();
    }
  }
}

/** What a run wants to know of the calls of a process. */
export interface Spy {
  readonly tell: Answers['tell'];
  readonly send: (commit: Commit) => void;
  readonly append: (result: Awaited<ReturnType<EventLog['append']>>) => void;
  readonly snapshotPut: Snapshots['put'];
  /** The writers' witness says so from now on. */
  readonly witnessed: (seq: number) => void;
  /** A reader that stood after a sequence got this commit. */
  readonly read: (after: number, commit: RecordedCommit) => void;
  /** What a host has in hand; the result is called when it is through with it. */
  readonly handling: (envelope: CommandEnvelope) => () => void;
  readonly snapshotGot: (key: SessionKey, state: PlainState | null) => void;
}

/** How long a turn of a host's loop takes: commits of one turn may go together. */
const turnMs = 20;

/** What of the world a process gets; one that only reads the index is spared the cost of writing it. */
interface PortsOptions extends Pick<SimOptions, 'guards' | 'guardsCaches' | 'grouping'> {
  readonly writesIndex: boolean;
}

/** The ports of one process, each behind its gate. */
export const portsOf = (
  process: Process,
  { system, outside }: { readonly system: InMemorySystem; readonly outside: Ports },
  clock: Clock,
  spy: Spy,
  { writesIndex, guards, guardsCaches, grouping }: PortsOptions,
): Ports => {
  const own: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => process.through(() => clock.sleep(ms, signal)),
  };
  const index = gatedBucket(process, system.buckets.index);
  const log = gatedLog(process, system.events, { spy, grouping });
  const guard = guards ? guardOf(process, log, { system, clock: own, cursors: createCursors(index), spy }) : null;
  const cache = (bucket: InMemoryKeyValue): KeyValue => {
    const gated = gatedBucket(process, bucket);
    return guardsCaches && guard !== null ? guardedCache(gated, guard) : gated;
  };
  return {
    clock: own,
    events: guard === null ? log : watchedGuard(process, guard),
    commands: watchedQueue(gatedQueue(process, system.commands), spy),
    inbound: gatedQueue(process, system.inbound),
    checkpoints: gatedQueue(process, system.checkpoints),
    answers: { ...outside.answers, tell: (to, answer) => process.state !== 'dead' && spy.tell(to, answer) },
    attachments: outside.attachments,
    snapshots: watchedSnapshots(createSnapshots(cache(system.buckets.snapshots)), spy),
    index: writesIndex ? createSessionIndex(cache(system.buckets.index), own) : readOnly(cache(system.buckets.index), own),
    memory: createMemoryStore(cache(system.buckets.memory), own),
    cursors: createCursors(cache(system.buckets.index)),
    leases: createLeases(gatedBucket(process, system.buckets.hosts), own),
    live: { ...outside.live, publish: () => {} },
    resumeRequests: outside.resumeRequests,
    custody: outside.custody,
    deadLetters: outside.deadLetters,
    tokens: outside.tokens,
    newCalls: outside.newCalls,
    readMarks: outside.readMarks,
    pairings: outside.pairings,
    audit: outside.audit,
    presence: outside.presence,
    problems: () => [],
    close: async () => {},
  };
};

const readOnly = (bucket: KeyValue, clock: Clock): SessionIndex => {
  const refuse = () => Promise.reject(new Error('this process only reads the index'));
  const { get } = createSessionIndex(bucket, clock);
  return { get, put: refuse, position: refuse, watch: () => openIndexView(bucket, clock) };
};

/** The product's own guard of the log, which looks once a second and after each lost connection (I13). */
const guardOf = (
  process: Process,
  events: EventLog,
  { system, clock, cursors, spy }: { system: InMemorySystem; clock: Clock; cursors: Cursors; spy: Spy },
): LogGuard => {
  const witness = createWritersWitness(gatedBucket(process, system.buckets.witness));
  const raise: WritersWitness['raise'] = async (seen) => {
    await witness.raise(seen);
    spy.witnessed(seen.seq);
  };
  const guard = new LogGuard({ events, clock, cursors, witness: { ...witness, raise } });
  process.disconnected = () => guard.distrust();
  let hasLooked = (): void => {};
  process.looked = new Promise((resolve) => {
    hasLooked = resolve;
  });
  const keepLooking = async (): Promise<void> => {
    for (;;) {
      await guard.look().then(hasLooked, () => {});
      process.sawLog ||= guard.isTrusted;
      process.asksForRestart = guard.problem()?.text.endsWith('restart it') ?? false;
      await clock.sleep(1_000);
    }
  };
  void keepLooking();
  return guard;
};

/** The log behind it. */
const watchedGuard = (process: Process, guard: LogGuard): EventLog => {
  const log = guard.guarded();
  return {
    ...log,
    last: async (key) => {
      const last = await log.last(key);
      process.sawLog = true;
      return last;
    },
  };
};

/** A process that stands still while the connection breaks has not sent its request yet: it is lost. */
const reaching =
  (process: Process, store: { readonly breaks: number }) =>
  <T>(call: () => Promise<T>): Promise<T> => {
    const { breaks } = store;
    return process.through(() =>
      breaks === store.breaks ? call() : Promise.reject(new NatterError('unavailable', 'the connection broke')),
    );
  };

const gatedLog = (
  process: Process,
  log: InMemoryEventLog,
  { spy, grouping }: { readonly spy: Spy; readonly grouping: SimOptions['grouping'] },
): EventLog => {
  const append = log.writer(grouping, turnMs);
  const tail = new LogTail();
  const reach = reaching(process, log);
  return {
    append: async (commit, expectedSeq) => {
      spy.send(commit);
      const result = await reach(() => append(commit, expectedSeq)).catch(
        (error: unknown): AppendResult => ({ kind: 'unknown', cause: errorMessage(error) }),
      );
      spy.append(result);
      return result;
    },
    last: (key) => reach(() => log.last(key)),
    newest: (headline) => reach(() => log.newest(headline)),
    count: (key) => reach(() => log.count(key)),
    read: (key, options) => gatedItems(process, log.read(key, options)),
    page: (options) => reach(() => log.page(options)),
    raw: (options) => reach(() => log.raw(options)),
    follow: (options) => {
      const signal = AbortSignal.any([options.signal, process.died.signal]);
      return watchedReads(gatedItems(process, log.follow({ ...options, signal }, tail)), options.after, spy);
    },
    info: () => reach(() => log.info()),
    view: (seq) => reach(() => log.view(seq)),
  };
};

async function* watchedReads(commits: AsyncIterable<RecordedCommit>, after: number, spy: Spy): AsyncGenerator<RecordedCommit> {
  let position = after;
  for await (const commit of commits) {
    spy.read(position, commit);
    position = commit.seq;
    yield commit;
  }
}

async function* gatedItems<T>(process: Process, items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    await process.gate();
    for await (const item of items) {
      await process.gate();
      yield item;
    }
  } finally {
    await process.gate();
  }
}

const gatedQueue = <T>(process: Process, queue: WorkQueue<T>): WorkQueue<T> => ({
  publish: (message) => process.through(() => queue.publish(message)),
  resend: (bytes, id) => process.through(() => queue.resend(bytes, id)),
  schedule: (name, at, message) => process.through(() => queue.schedule(name, at, message)),
  cancel: (key, name) => process.through(() => queue.cancel(key, name)),
  scheduled: (of, limit) => process.through(() => queue.scheduled(of, limit)),
  consume: (options) => process.through(() => queue.consume(options)),
  partitionOf: (key) => queue.partitionOf(key),
  lag: () => queue.lag(),
  lagByPartition: () => queue.lagByPartition(),
});

const watchedQueue = (queue: WorkQueue<CommandEnvelope>, spy: Spy): WorkQueue<CommandEnvelope> => ({
  ...queue,
  consume: (options) =>
    queue.consume({
      ...options,
      handle: (delivery) => {
        const handled = spy.handling(delivery.message);
        return options.handle(delivery).finally(handled);
      },
    }),
});

const gatedBucket = (process: Process, bucket: InMemoryKeyValue): KeyValue => {
  const reach = reaching(process, bucket);
  return {
    read: (key) => reach(() => bucket.read(key)),
    peek: (key) => reach(() => bucket.peek(key)),
    put: (key, value, options) => reach(() => bucket.put(key, value, options)),
    changes: (part, after, limit) => reach(() => bucket.changes(part, after, limit)),
    hint: (filter, wake) => bucket.hint(filter, wake),
    info: () => reach(() => bucket.info()),
  };
};

const watchedSnapshots = (snapshots: Snapshots, spy: Spy): Snapshots => ({
  get: async (key) => {
    const state = await snapshots.get(key).catch((error: unknown) => {
      spy.snapshotGot(key, null);
      throw error;
    });
    spy.snapshotGot(key, state);
    return state;
  },
  put: async (key, state) => {
    await spy.snapshotPut(key, state);
    await snapshots.put(key, state);
  },
});
