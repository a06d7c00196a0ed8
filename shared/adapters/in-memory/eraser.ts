import type { CommandEnvelope } from '../../domain/session/envelope.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Eraser } from '../../ports/eraser.ts';
import type { Attachments } from '../../ports/objects/attachments.ts';
import type { Snapshots } from '../../ports/snapshots.ts';
import type { Subjects } from '../../wire/subjects.ts';
import type { KeyValue } from '../kv/key-value.ts';
import { createEraser } from '../streams/eraser.ts';
import type { InMemoryCustodyLog } from './custody-log.ts';
import type { InMemoryDeadLetters } from './dead-letters.ts';
import type { InMemoryEventLog } from './event-log.ts';
import type { Timers } from './timers.ts';
import type { InMemoryWorkQueue } from './work-queue.ts';

export interface InMemoryEraserOptions {
  readonly events: InMemoryEventLog;
  readonly snapshots: Snapshots;
  readonly attachments: Attachments;
  readonly memory: KeyValue;
  /** The timers of the command queue. */
  readonly timers: Timers;
  readonly commands: InMemoryWorkQueue<CommandEnvelope>;
  readonly custody: InMemoryCustodyLog;
  readonly deadLetters: InMemoryDeadLetters;
  readonly clock: Clock;
  readonly subjects: Subjects;
}

/** The eraser of the in-memory broker. */
export const createInMemoryEraser = ({ timers, commands, custody, deadLetters, ...options }: InMemoryEraserOptions): Eraser =>
  createEraser({
    ...options,
    store: {
      commits: async (key, before) => options.events.purge(key, before),
      timers: async (key) => timers.cancelUnder(options.subjects.timersOf('commands', { key })),
      commands: async (key, upTo) => commands.removeDone(key, upTo),
      custody: async (target, belongs) => custody.erase(target, belongs),
      deadLetters: async (belongs) => deadLetters.erase(belongs),
      memory: async ({ key, revision }) => void (await options.memory.put(key, null, { fence: { key, revision } })),
    },
  });
