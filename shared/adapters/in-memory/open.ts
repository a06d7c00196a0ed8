import type { InboundEnvelope } from '../../domain/routing/inbound-envelope.ts';
import type { CheckpointRequest, CommandEnvelope } from '../../domain/session/envelope.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Eraser } from '../../ports/eraser.ts';
import type { Ports } from '../../ports/index.ts';
import { subjectsUnder } from '../../wire/subjects.ts';
import { createCursors } from '../kv/cursors.ts';
import { createLeases } from '../kv/leases.ts';
import { createMemoryStore } from '../kv/memory-store.ts';
import { createPresence } from '../kv/presence.ts';
import { createSessionIndex } from '../kv/session-index.ts';
import { createSnapshots } from '../kv/snapshots.ts';
import { createTokens } from '../kv/tokens.ts';
import { createAnswers } from '../streams/answers.ts';
import { createLive } from '../streams/live.ts';
import { checkpointBinding, commandBinding, inboundBinding } from '../streams/queue-binding.ts';
import { tracedQueue } from '../streams/traced-queue.ts';
import { createMemoryAuditLog } from './audit-log.ts';
import { createMemoryCustodyLog } from './custody-log.ts';
import { createMemoryDeadLetters } from './dead-letters.ts';
import { createMemoryEphemera } from './ephemera.ts';
import { createMemoryEraser } from './eraser.ts';
import { MemoryEventLog } from './event-log.ts';
import type { Faults } from './faults.ts';
import { MemoryKvStore } from './kv-store.ts';
import type { MemoryWorkQueueSettings } from './queue-state.ts';
import { Timers } from './timers.ts';
import { MemoryWorkQueue } from './work-queue.ts';

export interface MemoryOptions {
  readonly clock: Clock;
  /** Default `natter`. */
  readonly prefix?: string;
  /** Default 16. */
  readonly partitions?: number;
  /** Whose errors the event log shows: one server's (default) or a replicated stream's. */
  readonly semantics?: 'R1' | 'R3';
  /** What goes wrong, and where. Default: nothing. */
  readonly faults?: { readonly log?: Faults; readonly caches?: Faults; readonly queues?: Faults; readonly audit?: Faults };
  /** Departures from the topology. */
  readonly queues?: Pick<MemoryWorkQueueSettings<unknown>, 'ackWaitMs' | 'pinMs' | 'maxAckPending'>;
  readonly leaseFailed?: (name: string, error: unknown) => void;
}

/** A broker in this process, and what a test may do to it. */
export interface MemorySystem {
  /** The ports of one more process; `member` names it. Processes share all that the broker keeps. */
  portsFor(member: string): Ports;
  readonly events: MemoryEventLog;
  readonly commands: MemoryWorkQueue<CommandEnvelope>;
  readonly inbound: MemoryWorkQueue<InboundEnvelope>;
  readonly checkpoints: MemoryWorkQueue<CheckpointRequest>;
  readonly eraser: Eraser;
  readonly buckets: Readonly<Record<'snapshots' | 'index' | 'hosts' | 'tokens' | 'memory', MemoryKvStore>>;
}

/** Opens a broker in memory, deterministic: it knows only the injected clock and microtasks. */
export const openMemory = (options: MemoryOptions): MemorySystem => {
  const { clock, prefix = 'natter', partitions = 16, semantics = 'R1', faults = {} } = options;
  const subjects = subjectsUnder(prefix);
  const store = { clock, ...(faults.caches && { faults: faults.caches }) };
  const deadLetters = createMemoryDeadLetters(store);
  const audit = createMemoryAuditLog({ clock, ...(faults.audit && { faults: faults.audit }) });
  const queue = { partitions, deadLetters, clock, ...(faults.queues && { faults: faults.queues }), ...options.queues };

  const events = new MemoryEventLog({ clock, semantics, ...(faults.log && { faults: faults.log }) });
  const timers = new Timers(clock);
  const commands = new MemoryWorkQueue({ ...queue, timers, binding: commandBinding(subjects, partitions) });
  const inbound = new MemoryWorkQueue({ ...queue, binding: inboundBinding(subjects, partitions) });
  const checkpoints = new MemoryWorkQueue({ ...queue, binding: checkpointBinding(subjects, partitions) });
  const buckets = {
    snapshots: new MemoryKvStore(store),
    index: new MemoryKvStore(store),
    hosts: new MemoryKvStore(store),
    tokens: new MemoryKvStore(store),
    memory: new MemoryKvStore(store),
  };
  const custody = createMemoryCustodyLog(new MemoryKvStore(store), subjects);
  const ephemera = createMemoryEphemera();

  const portsFor = (member: string): Ports => {
    const address = `_INBOX.${member}`;
    const answers = createAnswers(ephemera, clock, address);
    const live = createLive(ephemera, subjects, `${address}.live`);
    return {
      clock,
      events,
      commands: tracedQueue('commands', commands),
      inbound: tracedQueue('inbound', inbound),
      checkpoints: tracedQueue('checkpoints', checkpoints),
      answers,
      snapshots: createSnapshots(buckets.snapshots),
      index: createSessionIndex(buckets.index, clock),
      memory: createMemoryStore(buckets.memory, clock),
      cursors: createCursors(buckets.index),
      leases: createLeases(buckets.hosts, clock, options.leaseFailed),
      live,
      custody,
      deadLetters,
      tokens: createTokens(buckets.tokens, clock),
      audit,
      presence: createPresence(buckets.hosts),
      problems: () => [],
      close: async () => {
        answers.close();
        live.close();
      },
    };
  };
  const snapshots = createSnapshots(buckets.snapshots);
  const eraser = createMemoryEraser({
    events,
    snapshots,
    memory: buckets.memory,
    timers,
    commands,
    deadLetters,
    clock,
    subjects,
  });
  return { portsFor, events, commands, inbound, checkpoints, buckets, eraser };
};
