import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Clock, untilBeat } from '../../../kit/clock.ts';
import { errorMessage } from '../../../kit/errors.ts';
import { type HealthCode, HealthProblem } from '../../../kit/health-problem.ts';
import type { Topology } from '../../../wire/topology.ts';
import { type BrokerFailure, failureOf, toNatterError } from '../client/broker-errors.ts';
import { connectionProblems } from '../client/connection.ts';
import { ReplyInbox } from '../client/reply-inbox.ts';
import { driftText, streamDrift } from '../drift.ts';
import { hasLeader, missingConsumers, missingStreams } from '../provision.ts';

export interface StoreWatchOptions {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly topology: Topology;
  /** Where the probe is written. */
  readonly probe: string;
  /** Also that of an append. */
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
  /** What the supervisor of a managed broker knows. */
  readonly supervised?: () => readonly HealthProblem[];
}

/** Of each kind of request there is one in this time: one a second in all. */
const pauseMs = 2_000;
/** What is not answered for so long will not be: a stalled disk has come back by then, and so has a stalled process of ours. */
export const unansweredMs = 4_000;
/** Timeout of a probe at most: shorter, so that one late answer is no failure. */
const probeMs = 2_000;
/** After so long without another failure it is unknown how writes end. */
const staleMs = 10_000;
/** While a cluster elects a leader, lists are incomplete and writes fail. Elections end before. */
const electionMs = 10_000;
/** What needs no second reason why nothing is stored. */
const explaining: ReadonlySet<HealthCode> = new Set(['storage_full', 'streams_missing', 'leaders_missing']);
/** One page of a disk: a smaller message may find room in the last page of a full one. */
const probeBytes = 4_096;

/** What a failed write says nothing about the store with. */
const beside: readonly BrokerFailure[] = ['conflict', 'missing', 'too_large', 'closed', 'empty'];

/** What does not get stored: when the first of these writes began, and when the last one ended. */
interface Unstored {
  readonly since: number;
  readonly at: number;
  readonly failure: BrokerFailure;
}

/**
 * Keeps looking whether the broker has our streams and consumers as the topology wants them, and whether it can store. One for a process
 * is enough.
 *
 * A stream whose disk was full refuses nothing: it is silent for ever (F26), and other streams go on. So a probe alone is not
 * sure, and neither is a request about the log, which is answered before the disk is asked. Two things together are: a probe in a
 * stream of its own, written as the log is, and the outcome of every append.
 */
export class StoreWatch {
  readonly #options: StoreWatchOptions;
  readonly #inbox: ReplyInbox;
  readonly #stopping = new AbortController();
  readonly #electionMs: number;
  readonly #unstored = new Map<'probe' | 'append', Unstored>();
  #connectedAt = Number.NEGATIVE_INFINITY;
  #unlistedSince: number | null = null;
  /** Streams without a leader, and when that was first seen; what is so from the beginning is told at once. */
  #leaderless: ReadonlyMap<string, number> | null = null;
  #found: readonly HealthProblem[] = [new HealthProblem('starting', 'the broker has not been checked yet')];

  private constructor(options: StoreWatchOptions) {
    this.#options = options;
    this.#inbox = new ReplyInbox(options.connection);
    this.#electionMs = options.topology.streams.some(({ replicas }) => replicas > 1) ? electionMs : 0;
  }

  /** Resolves after the first look and the first probe. */
  static async start(options: StoreWatchOptions): Promise<StoreWatch> {
    const watch = new StoreWatch(options);
    // Without one stored message there is no reason for patience.
    await Promise.all([watch.#look(), watch.#probe(Number.NEGATIVE_INFINITY)]);
    void watch.#repeat(() => watch.#look());
    void watch.#repeat(() => watch.#probe(watch.#now()));
    void watch.#followConnection();
    return watch;
  }

  problems(): readonly HealthProblem[] {
    const supervised = this.#options.supervised?.() ?? [];
    const isExplained = [...supervised, ...this.#found].some(({ code }) => explaining.has(code));
    return [...supervised, ...this.#found, ...(isExplained ? [] : this.#writeProblems())];
  }

  /** Tells how an append to the event log ended; `null`: it was stored. */
  appended(failure: BrokerFailure | null): void {
    this.#note('append', failure, this.#now() - this.#options.requestTimeoutMs);
  }

  stop(): void {
    this.#stopping.abort();
  }

  // ---------------------------------------------------------------------------------------------- writes

  async #probe(since: number): Promise<void> {
    if (!this.#isConnected()) return;
    const timeoutMs = Math.min(this.#options.requestTimeoutMs, probeMs);
    const stored = this.#inbox.ask(this.#options.probe, new Uint8Array(probeBytes), { timeoutMs });
    const failure = await stored.then(() => null, failureOf);
    if (this.#isConnected()) this.#note('probe', failure, since);
  }

  #note(what: 'probe' | 'append', failure: BrokerFailure | null, since: number): void {
    if (failure === null) this.#unstored.delete(what);
    // What began at another connection tells nothing about this one.
    if (failure === null || beside.includes(failure) || since < this.#connectedAt) return;
    this.#unstored.set(what, { since: this.#unstored.get(what)?.since ?? since, at: this.#now(), failure });
  }

  #writeProblems(): readonly HealthProblem[] {
    const now = this.#now();
    const patienceMs = Math.max(unansweredMs, this.#electionMs);
    const late = [...this.#unstored.values()].filter(
      ({ failure, since, at }) => now - at < staleMs && (failure === 'full' || at - since >= patienceMs),
    );
    if (late.some(({ failure }) => failure === 'full'))
      return [new HealthProblem('storage_full', 'the broker refuses to store more: a limit of its storage is reached')];
    if (late.length === 0) return [];
    return [
      new HealthProblem(
        'write_probe_failed',
        'the broker answers, but does not store what it is sent: its disk is full, or fails',
      ),
    ];
  }

  // ---------------------------------------------------------------------------------------------- streams and consumers

  async #look(): Promise<void> {
    if (!this.#isConnected()) return;
    const began = this.#now();
    try {
      this.#found = await this.#compare();
      this.#unlistedSince = null;
    } catch (error) {
      this.#unlistedSince ??= began;
      const patienceMs = Math.max(this.#electionMs, failureOf(error) === 'unknown' ? unansweredMs : 0);
      if (!this.#isConnected() || this.#now() - this.#unlistedSince < patienceMs) return;
      this.#found = [new HealthProblem('broker_unusable', errorMessage(toNatterError(error, 'list its streams')))];
    }
  }

  async #compare(): Promise<readonly HealthProblem[]> {
    const { manager, topology } = this.#options;
    const listed = new Map<string, StreamInfo>();
    for await (const info of manager.streams.list()) listed.set(info.config.name, info);
    const found: HealthProblem[] = [];
    const unled = topology.streams.map(({ name }) => name).filter((name) => !hasLeader(listed.get(name)));
    const absent = unled.some((name) => !listed.has(name)) ? await missingStreams(manager, topology) : [];
    if (absent.length > 0) {
      const message = `the broker has no stream ${absent.join(', ')}: it was not provisioned, or lost its data`;
      found.push(new HealthProblem('streams_missing', message));
    }
    found.push(...this.#withoutLeader(unled.filter((name) => !absent.includes(name))));
    for (const spec of topology.streams) {
      const info = listed.get(spec.name);
      if (info === undefined) continue;
      const drift = streamDrift(spec, info.config).map(driftText);
      if (drift.length > 0) found.push(new HealthProblem('stream_changed', `a stream was changed: ${drift.join('; ')}`));
      found.push(...(await this.#consumersOf(info)));
    }
    return found;
  }

  /** Such a stream may be in the list or not. It stores nothing, and an election ends within the patience. */
  #withoutLeader(names: readonly string[]): readonly HealthProblem[] {
    const now = this.#now();
    const before = this.#leaderless ?? new Map(names.map((name) => [name, Number.NEGATIVE_INFINITY]));
    this.#leaderless = new Map(names.map((name) => [name, before.get(name) ?? now]));
    const lasting = names.filter((name) => now - (this.#leaderless?.get(name) ?? now) >= this.#electionMs);
    if (lasting.length === 0) return [];
    return [new HealthProblem('leaders_missing', `no server of the broker leads ${lasting.join(', ')}: nothing is stored there`)];
  }

  /** The number of consumers comes with the stream. Only a wrong one is a reason to ask for their names, which may need a right. */
  async #consumersOf({ config: { name }, state }: StreamInfo): Promise<readonly HealthProblem[]> {
    const { manager, topology } = this.#options;
    const wanted = topology.consumers.filter(({ stream }) => stream === name).length;
    if (wanted === 0 || state.consumer_count === wanted) return [];
    const missing = await missingConsumers(manager, topology, name).catch(() => []);
    const count = Math.max(missing.length, wanted - state.consumer_count);
    if (count <= 0) return [];
    const shown = [...missing.slice(0, 8), ...(missing.length > 8 ? ['…'] : [])].join(', ');
    return [new HealthProblem('consumers_missing', `${name} lacks ${count} of ${wanted} consumers: ${shown || 'unknown which'}`)];
  }

  // ---------------------------------------------------------------------------------------------- time and the connection

  #now(): number {
    return this.#options.clock.monotonic();
  }

  /** Without a connection its own problem is clearer, and a request would only time out. */
  #isConnected(): boolean {
    return connectionProblems(this.#options.connection).length === 0;
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      await clock.sleep(untilBeat(clock, pauseMs), this.#stopping.signal);
      if (this.#stopping.signal.aborted) return;
      await work();
    }
  }

  /** After a reconnect there may be another broker. */
  async #followConnection(): Promise<void> {
    for await (const { type } of this.#options.connection.status()) {
      if (type === 'disconnect') {
        this.#unstored.clear();
        this.#found = [new HealthProblem('broker_away', 'the broker was away and is being checked')];
      }
      if (type !== 'reconnect') continue;
      this.#connectedAt = this.#now();
      await this.#look();
    }
  }
}
