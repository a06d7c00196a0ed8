/** Messages to current subscribers only, never stored. Answers and live text are written once, against this interface. */
export interface Ephemera {
  /** Never throws: a message without subscribers is lost on purpose. */
  publish(subject: string, bytes: Uint8Array): void;
  /** Passes each message to `receive` until the returned function is called. Resumes by itself after an outage. */
  subscribe(subject: string, receive: (bytes: Uint8Array) => void): () => void;
}

const inbox = /^_INBOX[A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+$/;

/** Answers are sent only to inboxes: a forged address must not make a host publish into a stream or an API of the broker. */
export const isInbox = (address: string): boolean => inbox.test(address);
