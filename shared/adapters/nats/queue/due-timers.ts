import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Clock, untilBeat } from '../../../kit/clock.ts';
import { errorMessage } from '../../../kit/errors.ts';
import { HealthProblem } from '../../../kit/health-problem.ts';
import type { DeadLetters } from '../../../ports/dead-letters.ts';
import type { QueueGuard } from '../../kv/guards/queue-guard.ts';
import type { QueueBinding } from '../../streams/queue-binding.ts';
import { connectionProblems } from '../client/connection.ts';
import { type Pulled, PullStream } from '../pull-stream.ts';
import { incarnationOf } from '../stream-config.ts';

export interface DueTimersSettings<T> {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly binding: QueueBinding<T>;
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
  /** While the timer stream cannot be trusted, nothing is forwarded. */
  readonly guard?: QueueGuard | undefined;
  /** Stores a message in its queue; a repeated id is stored once. */
  publish(message: T): Promise<unknown>;
}
export interface DueTimers {
  problems(): readonly HealthProblem[];
  close(): Promise<void>;
}

const tickMs = 250;
/** Longer than most leader elections. */
const troubleMs = 5_000;

/**
 * Moves the due messages of one queue from the timer stream into the queue (ADR 7). All members share the work. A message leaves
 * the timer stream once the queue has it, so a message moved twice is recognised by its id.
 */
export const forwardDueTimers = <T>(settings: DueTimersSettings<T>): DueTimers => {
  const { connection, clock, binding } = settings;
  const stopped = new AbortController();
  const underWay = new Set<Promise<void>>();
  const take = (pulled: Pulled): void => {
    const work = forward(settings, pulled).finally(() => underWay.delete(work));
    underWay.add(work);
  };
  const pull = new PullStream(
    connection,
    { stream: binding.timerStream, name: binding.name },
    { message: take, unpinned: () => {}, gone: () => {} },
    () => clock.monotonic(),
  );
  const keepAsking = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await clock.sleep(untilBeat(clock, tickMs), stopped.signal);
      if (!stopped.signal.aborted && connectionProblems(connection).length === 0) pull.tick();
    }
  };
  void keepAsking();
  return {
    problems: () =>
      stopped.signal.aborted || pull.silentMs() < troubleMs
        ? []
        : [
            new HealthProblem(
              'consumers_missing',
              `${binding.timerStream}: no consumer or no leader for the timers of ${binding.name}`,
            ),
          ],
    close: async () => {
      stopped.abort();
      await pull.end(take);
      await Promise.all(underWay);
    },
  };
};

/** A failed message is delivered again after its ack wait. */
const forward = async <T>({ binding, publish, ...settings }: DueTimersSettings<T>, pulled: Pulled): Promise<void> => {
  try {
    await settings.guard?.take(pulled.seq);
    let message: T;
    try {
      message = binding.decode(pulled.bytes);
    } catch (error) {
      await bury({ binding, publish, ...settings }, pulled, errorMessage(error));
      return pulled.answer('done');
    }
    await publish(message);
    pulled.answer('done');
  } catch {}
};

const bury = async <T>({ manager, binding, clock, deadLetters }: DueTimersSettings<T>, pulled: Pulled, reason: string) => {
  const { seq, subject, bytes } = pulled;
  const incarnation = incarnationOf(await manager.streams.info(binding.timerStream));
  const id = `${binding.timerStream}-${incarnation}-${seq}`;
  await deadLetters.put({ id, service: binding.service, reason, subject, at: clock.now(), bytes });
};
