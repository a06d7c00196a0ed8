import type { Ephemera } from '../streams/ephemera.ts';

/** Ephemeral messages between the hosts of one process. Delivered in a later microtask, as over a network. */
export const createInMemoryEphemera = (): Ephemera => {
  const receivers = new Map<string, Set<(bytes: Uint8Array) => void>>();
  return {
    publish: (subject, bytes) => {
      for (const receive of receivers.get(subject) ?? [])
        queueMicrotask(() => {
          if (receivers.get(subject)?.has(receive)) receive(bytes);
        });
    },
    subscribe: (subject, receive) => {
      const own = (bytes: Uint8Array): void => receive(bytes);
      const others = receivers.get(subject) ?? new Set();
      receivers.set(subject, others.add(own));
      return () => {
        others.delete(own);
        if (others.size === 0) receivers.delete(subject);
      };
    },
  };
};
