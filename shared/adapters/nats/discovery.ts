import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../kit/clock.ts';
import { errorMessage } from '../../kit/errors.ts';
import type { AckOutcome, ConsumeOptions } from '../../ports/work-queue.ts';
import type { QueueName, Subjects } from '../../wire/subjects.ts';
import { isInbox } from '../streams/ephemera.ts';

/** A service of this process, for the broker's own tools. */
export interface Discovered {
  readonly service: string;
  /** Of this process alone; one token of a subject. */
  readonly id: string;
  /** Of Natter. */
  readonly version: string;
}

/** A queue that the service takes messages from. Times are in ms. */
interface Taken {
  readonly queue: QueueName;
  messages: number;
  errors: number;
  lastError: string;
  ms: number;
}
type Handle<T> = ConsumeOptions<T>['handle'];

/**
 * Answers `$SRV.PING`, `.INFO` and `.STATS` as a NATS micro-service does, so that `nats micro
 * list` shows what runs. Its endpoints are the queues that it takes messages from.
 */
export class Discovery {
  readonly #clock: Clock;
  readonly #subjects: Subjects;
  readonly #started: string;
  readonly #taken: Taken[] = [];

  constructor(clock: Clock, subjects: Subjects) {
    this.#clock = clock;
    this.#subjects = subjects;
    this.#started = new Date(clock.now()).toISOString();
  }

  /** A queue's handler that is counted. */
  counted<T>(queue: QueueName, handle: Handle<T>): Handle<T> {
    const taken: Taken = { queue, messages: 0, errors: 0, lastError: '', ms: 0 };
    this.#taken.push(taken);
    return async (delivery) => {
      const since = this.#clock.monotonic();
      try {
        return failed(taken, await handle(delivery));
      } catch (error) {
        taken.errors += 1;
        taken.lastError = errorMessage(error);
        throw error;
      } finally {
        taken.messages += 1;
        taken.ms += this.#clock.monotonic() - since;
      }
    };
  }

  /** Answers over this connection until it is closed; with nothing to be found not at all. */
  answer(connection: NatsConnection, discovered?: Discovered): this {
    if (discovered === undefined || connection.isClosed()) return this;
    const asked = (error: Error | null, message: Msg): void => {
      const answer = error === null ? this.#answerTo(message.subject, discovered) : null;
      if (answer === null || !isInbox(message.reply ?? '') || connection.isDraining()) return;
      message.respond(JSON.stringify(answer));
    };
    for (const subject of this.#subjects.discovery) connection.subscribe(subject, { callback: asked });
    return this;
  }

  #answerTo(subject: string, { service, id, version }: Discovered): object | null {
    const { prefix, serviceName } = this.#subjects;
    const [, verb = '', , other = id] = subject.split('.');
    if (other !== id) return null;
    const identity = { name: serviceName, id, version, metadata: { service, prefix } };
    const of = (kind: string) => ({ type: `io.nats.micro.v1.${kind}_response`, ...identity });
    switch (verb) {
      case 'PING':
        return of('ping');
      case 'INFO': {
        const endpoints = this.#taken.map(({ queue }) => ({ ...this.#endpoint(queue), metadata: {} }));
        return { ...of('info'), description: `Natter: the ${service} service`, endpoints };
      }
      case 'STATS': {
        const endpoints = this.#taken.map((taken) => ({ ...this.#endpoint(taken.queue), ...statsOf(taken) }));
        return { ...of('stats'), started: this.#started, endpoints };
      }
      default:
        return null;
    }
  }

  #endpoint(queue: QueueName) {
    return { name: queue, subject: this.#subjects.published(queue), queue_group: queue };
  }
}

const failed = (taken: Taken, outcome: AckOutcome): AckOutcome => {
  if (outcome.kind !== 'retry' && outcome.kind !== 'dead') return outcome;
  taken.errors += 1;
  taken.lastError = outcome.kind === 'dead' ? outcome.reason : 'it is tried again';
  return outcome;
};

/** The protocol's times are in nanoseconds. */
const statsOf = ({ messages, errors, lastError, ms }: Taken) => ({
  num_requests: messages,
  num_errors: errors,
  last_error: lastError,
  processing_time: Math.round(ms * 1e6),
  average_processing_time: messages === 0 ? 0 : Math.round((ms * 1e6) / messages),
});
