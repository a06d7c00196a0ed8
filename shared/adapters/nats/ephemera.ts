import type { NatsConnection } from '@nats-io/transport-node';
import type { Ephemera } from '../streams/ephemera.ts';

/** Core NATS: no stream, no acknowledgement. */
export const createEphemera = (connection: NatsConnection): Ephemera => ({
  publish: (subject, bytes) => {
    if (connection.isClosed() || connection.isDraining()) return;
    connection.publish(subject, bytes);
  },
  subscribe: (subject, receive) => {
    if (connection.isClosed() || connection.isDraining()) return () => {};
    const subscription = connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) receive(message.data);
      },
    });
    return () => subscription.unsubscribe();
  },
});
