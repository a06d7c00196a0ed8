import { pino } from 'pino';
// Services load it when they need it, which would wait for the machine: virtual time does not.
import '../../../shared/adapters/kv/memory/memory-search-index.ts';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { startSession } from '../../../services/session/main.ts';
import { type InMemorySystem, openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { OfflineModel } from '../../../shared/adapters/model/offline.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { encodeCommit } from '../../../shared/wire/codec.ts';
import { damagedKeys } from '../history.ts';
import { type Random, randomOf } from '../random.ts';
import { acceptInMemory } from './accept-loss.ts';
import type { SimOptions } from './options.ts';
import { Process, portsOf } from './process.ts';
import { type Mark, Recorder } from './recorder.ts';
import { toolsOf } from './tools.ts';
import { Trouble } from './trouble.ts';
import type { VirtualClock } from './virtual-clock.ts';

type Kind = 'host' | 'checkpoint';

/** One place where a process should run; the process in it changes. */
interface Place {
  readonly kind: Kind;
  readonly name: string;
  life: number;
  process: Process | null;
  service: Service | null;
  stopping: boolean;
}

const log = pino({ level: 'silent' });

/** How long a broker takes to start: longer than a reader rests between two looks at the log. */
const restartMs = 1_500;

/** The broker and the processes of a run, and what may be done to them. */
export class World {
  readonly #options: SimOptions;
  readonly #clock: VirtualClock;
  readonly #random: Random;
  readonly #troubles: readonly Trouble[];
  readonly #places: readonly Place[];
  readonly system: InMemorySystem;
  /** Ports of nobody: for what needs no gate. */
  readonly outside: Ports;
  readonly recorder: Recorder;
  /** Those that are gone too. */
  readonly #processes = new Set<Process>();
  readonly #totals = new Map<string, number>();
  /** Puts the newer log back, if an older one is there. */
  #putBack: () => void = () => {};
  #phase: 'trouble' | 'healed' | 'over' = 'trouble';

  constructor(options: SimOptions, clock: VirtualClock) {
    const { seed, faults, maxDelayMs, maxLateMs, partitions, semantics, maxAckPending } = options;
    const trouble = (part: number, rates: SimOptions['faults']['log'], delayMs: number) =>
      new Trouble(randomOf(seed * 7 + part), rates, delayMs, maxLateMs);
    const [logTrouble, caches, queues] = [
      trouble(1, faults.log, maxDelayMs),
      trouble(2, faults.caches, maxDelayMs * 4),
      trouble(3, faults.queues, maxDelayMs),
    ];
    this.#options = options;
    this.#clock = clock;
    this.#random = randomOf(seed * 7 + 4);
    this.#troubles = [logTrouble, caches, queues];
    this.system = openInMemory({
      clock,
      partitions,
      semantics,
      groupFences: options.groupFences,
      faults: { log: logTrouble, caches, queues },
      queues: { maxAckPending },
    });
    if (!options.compares)
      this.system.events.view = async () => ({ incarnation: 1, lastSeq: Number.MAX_SAFE_INTEGER, digest: null });
    this.outside = this.system.portsFor('outside');
    this.recorder = new Recorder(this.system, clock);
    const place = (kind: Kind, index: number): Place => ({
      ...{ kind, name: `${kind}-${index + 1}`, life: 0, process: null, service: null, stopping: false },
    });
    this.#places = [
      ...Array.from({ length: options.hosts }, (_, index) => place('host', index)),
      ...Array.from({ length: options.checkpoints }, (_, index) => place('checkpoint', index)),
    ];
  }

  get faults(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const [name, count] of this.#troubles.flatMap((trouble) => Object.entries(trouble.counts)))
      counts[name] = (counts[name] ?? 0) + count;
    return counts;
  }

  /** Starts what should run and does not. */
  start(): void {
    for (const place of this.#places) if (place.process === null) this.#start(place);
  }

  /** A process is gone from one moment to the next; another takes its place after a while. */
  crash(kind: Kind): void {
    const place = this.#some(kind);
    if (place === null) return;
    if (kind === 'host') this.recorder.mark('host killed');
    this.#kill(place);
  }

  /** A host stands still for a while and does not know it. */
  pause(): void {
    const place = this.#some('host');
    const process = place?.process;
    if (!process) return;
    const ms = this.#random.pick([100, 1_500, 2_500, 4_000, 12_000]);
    this.recorder.note(`${process.name} pauses for ${ms} ms`);
    process.pause();
    this.system.commands.pause(process.name);
    void this.#clock.sleep(ms).then(() => {
      if (process.state !== 'paused') return;
      this.recorder.note(`${process.name} goes on`);
      if (ms > 2_000) this.recorder.mark('zombie went on');
      process.resume();
      this.system.commands.resume(process.name);
    });
  }

  /** A host is asked to stop; another takes its place. */
  leave(): void {
    const place = this.#some('host');
    if (place !== null) this.#stop(place);
  }

  #stop(place: Place): void {
    if (!place.service || place.stopping) return;
    place.stopping = true;
    this.recorder.mark('graceful stop');
    this.recorder.note(`${place.name}.${place.life} is asked to stop`);
    const { process, service } = place;
    void service.stop(10_000).then(() => {
      this.recorder.note(`${process?.name} has stopped`);
      process?.kill();
      if (place.process === process) this.#vacate(place);
    });
  }

  /** A part of the broker, or all of it, is away for a while. */
  outage(): void {
    const parts = this.#random.chance(0.5) ? this.#troubles : [this.#random.pick(this.#troubles)];
    const fault = this.#random.pick(['unavailable', 'request_lost'] as const);
    const ms = this.#random.pick([300, 3_000, 15_000]);
    this.recorder.mark('outage');
    this.recorder.note(`outage of ${parts.length} parts for ${ms} ms: ${fault}`);
    for (const part of parts) part.outage = fault;
    void this.#clock.sleep(ms).then(() => {
      for (const part of parts) part.outage = null;
    });
  }

  /** The broker of the commands starts again, and its consumers begin with the oldest command that is still stored, done or not (ADR 9). */
  restart(): void {
    const again = this.system.commands.forgetPositions();
    if (again > 0) this.recorder.mark('done came again');
    this.recorder.note(`the consumers of the commands forget where they were: ${again} that are done come again`);
  }

  /** The broker starts again with an older copy of the log, which somebody has seen further; later with the newer one. */
  rollBack(): void {
    const { recorder, system } = this;
    const seen = this.#options.guards ? Math.min(recorder.witnessed, recorder.position()) : recorder.position();
    if (recorder.isBack || seen === 0) return;
    const to = this.#random.between(Math.max(0, seen - 30), seen - 1);
    if (this.#options.store === 'lost') return this.#loseEnd(to);
    const ms = restartMs + this.#random.pick([500, 3_000, 15_000]);
    const noteIt = recorder.rollBack(to);
    const putBack = system.events.kept.rollBack(to);
    this.#breakConnections();
    this.#putBack = () => {
      this.#putBack = () => {};
      noteIt();
      putBack();
      this.#breakConnections();
    };
    void this.#clock.sleep(ms).then(() => this.#putBack());
  }

  /** Once in a run. Sooner or later a person accepts that, and restarts the processes that ask for it. */
  #loseEnd(to: number): void {
    const { recorder, system } = this;
    if (recorder.losses.length > 0) return;
    recorder.lose(to, new Set([...this.#processes].flatMap(({ sawLog, name }) => (sawLog ? [name] : []))));
    const noteIt = recorder.rollBack(to);
    system.events.kept.rollBack(to);
    this.#breakConnections();
    if (this.#options.accepts) void this.#acceptLoss(to, noteIt);
  }

  async #acceptLoss(to: number, noteIt: () => void): Promise<void> {
    const { recorder } = this;
    await this.#clock.sleep(restartMs + this.#random.pick([500, 3_000, 15_000]));
    await acceptInMemory(this, this.#clock, this.#options, () => {
      if (!recorder.isBack) return;
      noteIt();
      recorder.accepted(to);
    });
    for (;;) {
      await this.#clock.sleep(this.#random.pick([10, 1_000, 3_000]));
      for (const place of this.#places) if (place.process?.asksForRestart) this.#restart(place);
    }
  }

  /** A person restarts a process, with or without a proper stop. */
  #restart(place: Place): void {
    if (this.#random.chance(0.5)) this.#stop(place);
    else this.#kill(place);
  }

  /** The broker of the log is away for as long as it takes to start again. */
  #breakConnections(): void {
    for (const store of [this.system.events, ...Object.values(this.system.buckets)]) store.breaks++;
    const [log] = this.#troubles;
    for (const { process } of this.#places) process?.disconnected();
    if (log === undefined || this.#phase !== 'trouble') return;
    log.outage = 'unavailable';
    void this.#clock.sleep(restartMs).then(() => {
      log.outage = null;
    });
  }

  /** The store loses or changes a commit of a session that is whole. The last one only in a way that the broker itself notices. */
  damage(): void {
    const { recorder, system } = this;
    const commits = recorder.upToDate();
    const readOnly = damagedKeys(recorder);
    const commit = this.#pick(commits.filter(({ key }) => !readOnly.has(key)));
    if (commit === null) return;
    const { key, seq, rev } = commit;
    const isLast = !commits.some((later) => later.key === key && later.seq > seq);
    const how = isLast ? 'unreadable' : this.#random.pick(['missing', 'changed', 'unreadable'] as const);
    if (how === 'missing') system.events.kept.lose(seq);
    if (how === 'changed') system.events.kept.change(seq, encodeCommit({ ...commit, actor: 'user:somebody-else' }));
    if (how === 'unreadable') system.events.kept.spoil(seq);
    recorder.damage({ key, seq, rev, how });
  }

  /** Nothing fails any more and everything runs. */
  heal(): void {
    this.recorder.note('everything heals');
    this.#putBack();
    this.#phase = 'healed';
    for (const trouble of this.#troubles) trouble.heal();
    for (const { process } of this.#places) {
      if (process?.state !== 'paused') continue;
      process.resume();
      this.system.commands.resume(process.name);
    }
    this.start();
  }

  /** Stops all processes as an operator would, so that they write down what they hold. */
  async stop(): Promise<void> {
    this.#phase = 'over';
    const stopped = Promise.all(this.#places.flatMap(({ service }) => service?.stop(10_000) ?? []));
    await this.#clock.pass(20_000);
    await stopped;
    for (const place of this.#places) if (place.process !== null) this.#kill(place);
  }

  /** Notes how much each host holds. */
  look(): void {
    for (const { kind, process, service } of this.#places) {
      if (kind !== 'host' || process === null || service === null) continue;
      const resident = service.metrics().sessions_resident ?? 0;
      this.recorder.residents.push({ host: process.name, resident, limit: this.#options.residents });
    }
  }

  /** Sum of one number over all hosts that lived. */
  total(metric: string): number {
    return this.#totals.get(metric) ?? 0;
  }
  marks(mark: Mark): number {
    return this.recorder.marks.get(mark) ?? 0;
  }

  #some(kind: Kind): Place | null {
    return this.#pick(this.#places.filter((place) => place.kind === kind && place.process?.state === 'live'));
  }
  #pick<T>(items: readonly T[]): T | null {
    return items.length === 0 ? null : this.#random.pick(items);
  }

  #kill(place: Place): void {
    const { process } = place;
    if (process === null) return;
    this.recorder.note(`${process.name} dies`);
    process.kill();
    this.system.commands.crash(process.name);
    this.#vacate(place);
  }

  #killProcess(process: Process): void {
    const place = this.#places.find((one) => one.process === process);
    if (place) this.#kill(place);
  }

  #vacate(place: Place): void {
    for (const [name, value] of Object.entries(place.service?.metrics() ?? {}))
      this.#totals.set(name, (this.#totals.get(name) ?? 0) + value);
    place.process = null;
    place.service = null;
    place.stopping = false;
    if (this.#phase === 'over') return;
    const ms = this.#phase === 'healed' ? 100 : this.#random.pick([10, 1_000, 5_000]);
    void this.#clock.sleep(ms).then(() => {
      if (place.process === null && this.#phase !== 'over') this.#start(place);
    });
  }

  #start(place: Place): void {
    const process = new Process(`${place.name}.${++place.life}`);
    this.#processes.add(process);
    place.process = process;
    this.recorder.note(`${process.name} starts`);
    void this.#launch(place.kind, process).then(
      (service) => {
        if (place.process === process) place.service = service;
      },
      (error) => {
        this.recorder.note(`${process.name} did not start: ${error}`);
        if (place.process === process) this.#kill(place);
      },
    );
  }

  async #launch(kind: Kind, process: Process): Promise<Service> {
    const {
      residents,
      safetyToggles,
      commitPatienceMs,
      windowTokens,
      keepTokens,
      forgetsLost,
      guards,
      guardsCaches,
      grouping,
      chain,
      store,
    } = this.#options;
    const own = portsOf(process, this, this.#clock, this.recorder.spyOn(process), {
      ...{
        writesIndex: kind === 'checkpoint',
        guards: guards && (store === 'rolled back' || store === 'lost'),
        guardsCaches,
        grouping,
      },
    });
    await process.looked;
    const ports = {
      ...own,
      ...(!forgetsLost && { commands: unawareOfLoss(own.commands) }),
      ...(!chain && { events: withoutHoles(own.events) }),
    };
    const member = process.name;
    if (kind === 'checkpoint') return startCheckpoint({ ports, log, member });
    let ids = 0;
    let approvals = 0;
    return startSession({
      config: configSchema.parse({
        session: { residents },
        tools: {
          ...{ approvalMinutes: 1, strangerApprovalMinutes: 1 },
          rules: [{ tool: '*', role: 'participant', action: 'ask' }],
        },
        context: { windowTokens, keepTokens, reserveTokens: 300 },
        memory: { enabled: false },
      }),
      ports,
      log,
      member,
      env: {},
      model: this.recorder.watched(new OfflineModel(ports.clock, windowTokens), process),
      tools: toolsOf(process, {
        sleep: (ms) => ports.clock.sleep(ms),
        recorder: this.recorder,
        die: () => this.#killProcess(process),
      }),
      safetyToggles,
      newId: () => `${member}-${++ids}`,
      newApprovalId: () => `${member}-asks-${++approvals}`,
      commitPatienceMs,
      recoveryEveryMs: 1_000,
    });
  }
}

/** A queue whose members never hear that they lost a partition, or that one came back. */
const unawareOfLoss = (queue: Ports['commands']): Ports['commands'] => ({
  ...queue,
  consume: (options) => queue.consume({ ...options, acquired: () => {}, lost: () => {} }),
});

/** A log whose histories always look whole: whatever is missing, the next commit follows the one before it. */
const withoutHoles = (log: EventLog): EventLog => ({
  ...log,
  read: async function* (key, options) {
    let last: RecordedCommit | null = null;
    for await (const commit of log.read(key, options)) {
      last = last === null ? commit : { ...commit, rev: last.rev + 1, prev: last.digest };
      yield last;
    }
  },
});
