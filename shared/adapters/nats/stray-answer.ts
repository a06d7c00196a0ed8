import type { MsgHdrs } from '@nats-io/transport-node';

/** How often the broker itself has put these headers on a message that it hands to us. */
interface Added {
  readonly stream: number;
  readonly pin: number;
}
/** On the ways that messages reach us: a direct read, a read from the leader, and a pull from a consumer with or without pins. */
export const added = {
  direct: { stream: 1, pin: 0 },
  leader: { stream: 0, pin: 0 },
  pinned: { stream: 0, pin: 1 },
  pulled: { stream: 0, pin: 0 },
} as const satisfies Record<string, Added>;

/**
 * True for a stored message that is the broker's answer to somebody's read. The broker answers to any subject that is asked for, and
 * does not look whether the asker may publish there (2.15.1), so whoever may read a message can have it stored in any stream. Such
 * a message still has the headers of the answer, which no message of ours has. It counts as empty: nobody's word (F5).
 */
export const isStrayAnswer = (headers: MsgHdrs | undefined, { stream, pin }: Added): boolean =>
  headers !== undefined && (headers.values('Nats-Stream').length > stream || headers.values('Nats-Pin-Id').length > pin);

export const nothing = new Uint8Array();
