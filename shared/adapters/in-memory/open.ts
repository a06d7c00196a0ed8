import type { InboundEnvelope } from '../../domain/routing/inbound-envelope.ts';
import type { CheckpointRequest, CommandEnvelope } from '../../domain/session/envelope.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Eraser } from '../../ports/eraser.ts';
import type { Ports } from '../../ports/index.ts';
import { subjectsUnder } from '../../wire/subjects.ts';
import { createCursors } from '../kv/cursors.ts';
import { createLeases } from '../kv/leases.ts';
import { createMemoryStore } from '../kv/memory/memory-store.ts';
import { createNewCalls } from '../kv/new-calls.ts';
import { createPairings } from '../kv/pairings.ts';
import { createPresence } from '../kv/presence.ts';
import { createReadMarks } from '../kv/read-marks.ts';
import { createSessionIndex } from '../kv/session-index.ts';
import { createSnapshots } from '../kv/snapshots.ts';
import { createTokens } from '../kv/tokens.ts';
import { createAnswers } from '../streams/answers.ts';
import { createLive } from '../streams/live.ts';
import { checkpointBinding, commandBinding, inboundBinding } from '../streams/queue-binding.ts';
import { createResumeRequests } from '../streams/resume-requests.ts';
import { tracedQueue } from '../streams/traced-queue.ts';
import { InMemoryAttachments } from './attachments.ts';
import { createInMemoryAuditLog } from './audit-log.ts';
import { createInMemoryCustodyLog } from './custody-log.ts';
import { createInMemoryDeadLetters } from './dead-letters.ts';
import { createInMemoryEphemera } from './ephemera.ts';
import { createInMemoryEraser } from './eraser.ts';
import { InMemoryEventLog } from './event-log.ts';
import type { Faults } from './faults.ts';
import { InMemoryKeyValue } from './kv-store.ts';
import type { InMemoryWorkQueueSettings } from './queue-state.ts';
import { Timers } from './timers.ts';
import { InMemoryWorkQueue } from './work-queue.ts';

export interface InMemoryOptions {
  readonly clock: Clock;
  /** Default `natter`. */
  readonly prefix?: string;
  /** Default 16. */
  readonly partitions?: number;
  /** Whose errors the event log simulates: a single server's (default) or a replicated stream's. */
  readonly semantics?: 'R1' | 'R3';
  /** See `LogWritesOptions`. Default: on. */
  readonly groupFences?: boolean;
  /** Faults by part of the broker. Default: none. */
  readonly faults?: { readonly log?: Faults; readonly caches?: Faults; readonly queues?: Faults; readonly audit?: Faults };
  /** Overrides of the topology. */
  readonly queues?: Pick<InMemoryWorkQueueSettings<unknown>, 'ackWaitMs' | 'pinMs' | 'maxAckPending'>;
  readonly leaseFailed?: (name: string, error: unknown) => void;
}

/** A broker in this process, with hooks for tests. */
export interface InMemorySystem {
  /** The ports of one more process, named `member`. All processes share the broker's data. */
  portsFor(member: string): Ports;
  readonly events: InMemoryEventLog;
  readonly commands: InMemoryWorkQueue<CommandEnvelope>;
  readonly inbound: InMemoryWorkQueue<InboundEnvelope>;
  readonly checkpoints: InMemoryWorkQueue<CheckpointRequest>;
  readonly eraser: Eraser;
  readonly buckets: Readonly<
    Record<'snapshots' | 'index' | 'hosts' | 'tokens' | 'pairings' | 'memory' | 'witness', InMemoryKeyValue>
  >;
}

/** Opens an in-memory broker. Deterministic: it uses only the injected clock and microtasks. */
export const openInMemory = (options: InMemoryOptions): InMemorySystem => {
  const { clock, prefix = 'natter', partitions = 16, semantics = 'R1', faults = {} } = options;
  const subjects = subjectsUnder(prefix);
  const store = { clock, ...(faults.caches && { faults: faults.caches }) };
  const deadLetters = createInMemoryDeadLetters({ ...store, prefix });
  const audit = createInMemoryAuditLog({ clock, ...(faults.audit && { faults: faults.audit }) });
  const queue = { partitions, deadLetters, clock, ...(faults.queues && { faults: faults.queues }), ...options.queues };

  const events = new InMemoryEventLog({
    clock,
    semantics,
    groupFences: options.groupFences ?? true,
    ...(faults.log && { faults: faults.log }),
  });
  const timers = new Timers(clock);
  const commands = new InMemoryWorkQueue({ ...queue, timers, binding: commandBinding(subjects, partitions) });
  const inbound = new InMemoryWorkQueue({ ...queue, binding: inboundBinding(subjects, partitions) });
  const checkpoints = new InMemoryWorkQueue({ ...queue, binding: checkpointBinding(subjects, partitions) });
  const buckets = {
    snapshots: new InMemoryKeyValue(store),
    index: new InMemoryKeyValue(store),
    hosts: new InMemoryKeyValue(store),
    tokens: new InMemoryKeyValue(store),
    pairings: new InMemoryKeyValue(store),
    memory: new InMemoryKeyValue(store),
    witness: new InMemoryKeyValue(store),
  };
  const attachments = new InMemoryAttachments(clock);
  const custody = createInMemoryCustodyLog(new InMemoryKeyValue(store), subjects);
  const ephemera = createInMemoryEphemera();

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
      attachments,
      snapshots: createSnapshots(buckets.snapshots),
      index: createSessionIndex(buckets.index, clock),
      memory: createMemoryStore(buckets.memory, clock),
      cursors: createCursors(buckets.index),
      leases: createLeases(buckets.hosts, clock, options.leaseFailed),
      live,
      resumeRequests: createResumeRequests(ephemera, subjects),
      custody,
      deadLetters,
      tokens: createTokens(buckets.tokens, clock),
      ...{ newCalls: createNewCalls(buckets.tokens), readMarks: createReadMarks(buckets.tokens, clock) },
      pairings: createPairings(buckets.pairings),
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
  const eraser = createInMemoryEraser({
    events,
    snapshots,
    attachments,
    memory: buckets.memory,
    timers,
    ...{ commands, custody, deadLetters },
    clock,
    subjects,
  });
  return { portsFor, events, commands, inbound, checkpoints, buckets, eraser };
};
