import type { NatsConnection } from '@nats-io/transport-node';
import type { LogView } from '../../../domain/session/log-witness.ts';
import type { Clock } from '../../../kit/clock.ts';
import type { FollowOptions } from '../../../ports/event-log.ts';
import type { Subjects } from '../../../wire/subjects.ts';
import { type FollowedLog, readsAll, under, type Wake, type WakeUps } from '../../streams/follow.ts';
import { commitOrNull, keyIn, type MessageBatch, type OnBad } from '../../streams/stored-message.ts';
import { onReconnect } from '../client/on-reconnect.ts';

interface EventStream {
  readonly connection: NatsConnection;
  readonly clock: Clock;
  readonly subjects: Subjects;
  readonly onBad: OnBad;
  view(seq: number): Promise<LogView>;
  batch(after: number, subject: string | undefined): Promise<MessageBatch>;
}

/**
 * The event stream as a source for `followLog`, without a JetStream consumer (ADR 2). The broker filters by one key or one
 * headline; several headlines are filtered here, by subject, while reading the whole log.
 */
export const followedStream = (stream: EventStream, options: FollowOptions): FollowedLog => {
  const { key, headlines } = options;
  const { connection, clock, subjects, onBad } = stream;
  const only = headlines?.length === 1 ? headlines[0] : undefined;
  const filter =
    key === undefined ? subjects.eventsUnder(only ?? '*') : only ? subjects.event(only, key) : subjects.eventsOf(key);
  const whole = readsAll(options);
  return {
    clock,
    whole,
    view: stream.view,
    batch: (after) => stream.batch(after, whole ? undefined : filter),
    wakeUps: (wake) => new StoredWakeUps(connection, subjects.stored(filter), wake),
    wants: under(subjects, headlines),
    commitOf: (message, own) => commitOrNull(message, subjects, onBad, own),
    keyOf: (message) => keyIn(message, subjects),
    distrust: () => {},
    closed: () => connection.isClosed(),
  };
};

/** The sequence of the latest stored commit, as announced by its writer. */
class StoredWakeUps implements WakeUps {
  readonly #stop: () => void;
  #latest = 0;

  constructor(connection: NatsConnection, subject: string, wake: Wake) {
    const subscription = connection.subscribe(subject, {
      callback: (error, message) => {
        if (error !== null) return;
        this.#latest = Math.max(this.#latest, Number(message.string()) || 0);
        wake(true);
      },
    });
    const stopListening = onReconnect(connection, wake);
    this.#stop = () => {
      stopListening();
      subscription.unsubscribe();
    };
  }

  latest(): number {
    return this.#latest;
  }

  stop(): void {
    this.#stop();
  }
}
