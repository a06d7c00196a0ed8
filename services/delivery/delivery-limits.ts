/** The limits that delivery alone has (I11). */
export const deliveryLimits = {
  /** Characters of the texts in hand; their number is `limits.deliveryWindow`. */
  windowCharacters: 32 * 1024 * 1024,
  /** Outbounds of one conversation that are in hand; the others wait in the log. */
  chain: 100,
  /** Concurrent sends through one outlet. */
  sends: 32,
  /** Attempts to send, unless the outlet sets its own limit. */
  attempts: 8,
  /** Conversations whose last delivery record is remembered. */
  conversations: 10_000,
  /** Longest wait before a send is retried, if the receiver does not ask for a longer one. */
  backoffMs: 60_000,
  /** A wait that is longer is spent in the log and not in memory. */
  holdMs: 5_000,
  /** Conversations and accounts that wait; those beyond hold their place in memory. */
  waiting: 10_000,
  /** First and longest wait between two tries whether a parked account works again. */
  probeMs: 60_000,
  probeMostMs: 1_800_000,
  /** How long a platform is asked for a message whose outcome is unknown. */
  askMs: 600_000,
} as const;
