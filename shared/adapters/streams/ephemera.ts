/** Messages to whoever listens now, kept nowhere. Answers and live text are written once, against this. */
export interface Ephemera {
  /** Never throws: what nobody hears is lost on purpose. */
  publish(subject: string, bytes: Uint8Array): void;
  /** Hands each message to `receive` until the returned function is called. Works again by itself after an outage. */
  subscribe(subject: string, receive: (bytes: Uint8Array) => void): () => void;
}

const inbox = /^_INBOX[A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+$/;

/** Answers are told to inboxes only: a forged address must not make a host publish into a stream or an API of the broker. */
export const isInbox = (address: string): boolean => inbox.test(address);
