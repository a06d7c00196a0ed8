import type { NatsConnection } from '@nats-io/transport-node';

/** Calls `wake` whenever the connection is back: what was published meanwhile has not reached us. Returns what ends it. */
export const onReconnect = (connection: NatsConnection, wake: () => void): (() => void) => {
  const events = connection.status();
  const listen = async (): Promise<void> => {
    for await (const { type } of events) if (type === 'reconnect') wake();
  };
  void listen();
  return () => Reflect.get(events, 'stop')?.call(events);
};
