import { SpanKind } from '@opentelemetry/api';
import { type SpanDescription, traced, traceparentNow } from '../../kit/trace.ts';
import type { AckOutcome, ConsumeOptions, Delivery, WorkQueue } from '../../ports/work-queue.ts';

/** A message that carries its trace. */
interface Traceable {
  readonly id: string;
  readonly traceparent?: string | undefined;
}

type Handle<T> = ConsumeOptions<T>['handle'];

/** Wraps a queue so that messages carry the trace from publisher to handler. `wrapped` is put around each handler. */
export const tracedQueue = <T extends Traceable>(
  name: string,
  queue: WorkQueue<T>,
  wrapped: (handle: Handle<T>) => Handle<T> = (handle) => handle,
): WorkQueue<T> => ({
  publish: (message) =>
    traced(
      () => publishing(name, message),
      () => queue.publish(carrying(message)),
    ),
  resend: (bytes, id) => queue.resend(bytes, id),
  schedule: (timer, at, message) => queue.schedule(timer, at, carrying(message)),
  cancel: (key, timer) => queue.cancel(key, timer),
  scheduled: (of, limit) => queue.scheduled(of, limit),
  consume: (options) => {
    const handle = wrapped((delivery) => options.handle(delivery));
    return queue.consume({
      ...options,
      handle: (delivery) =>
        traced(
          () => processing(name, delivery),
          () => handle(delivery),
        ),
    });
  },
  partitionOf: (key) => queue.partitionOf(key),
  lag: () => queue.lag(),
  lagByPartition: () => queue.lagByPartition(),
});

const carrying = <T extends Traceable>(message: T): T => {
  const traceparent = traceparentNow();
  return traceparent === undefined ? message : { ...message, traceparent };
};

const attributesOf = (queue: string, { id }: Traceable) => ({
  'messaging.system': 'nats',
  'messaging.destination.name': queue,
  'messaging.message.id': id,
});

const publishing = (queue: string, message: Traceable): SpanDescription<{ seq: number; duplicate: boolean }> => ({
  name: `publish ${queue}`,
  kind: SpanKind.PRODUCER,
  attributes: { ...attributesOf(queue, message), 'messaging.operation.name': 'publish', 'messaging.operation.type': 'send' },
  ended: ({ duplicate }) => ({ attributes: { 'natter.duplicate': duplicate } }),
});

/** Messages of other programs may have their trace only in the header. */
const processing = <T extends Traceable>(
  queue: string,
  { message, traceparent, partition, attempt }: Delivery<T>,
): SpanDescription<AckOutcome> => ({
  name: `process ${queue}`,
  kind: SpanKind.CONSUMER,
  parent: message.traceparent ?? traceparent ?? null,
  attributes: {
    ...attributesOf(queue, message),
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.partition.id': String(partition),
    'natter.attempt': attempt,
  },
  ended: ({ kind }) => ({
    attributes: { 'natter.verdict': kind },
    failure: kind === 'retry' || kind === 'dead' ? kind : undefined,
  }),
});
