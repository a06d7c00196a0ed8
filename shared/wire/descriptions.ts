/** What is in each stream and bucket, for people who look at the broker with its own tools; by the end of the name. */
const descriptions: Readonly<Record<string, string>> = {
  inbound: 'Natter: messages of platforms, until they are routed',
  commands: 'Natter: commands to sessions, until they are done',
  checkpoints: 'Natter: requests for introspection',
  timers: 'Natter: messages that are due later',
  events: 'Natter: the log of all sessions, the only truth. Never purge or edit it',
  deliveries: 'Natter: the state of each outgoing message',
  dead: 'Natter: messages that nobody could process, with the reason',
  audit: 'Natter: security-relevant actions',
  probe: 'Natter: proof that the broker can store',
  snapshots: 'Natter: cached states of sessions. May be lost',
  index: 'Natter: what lists show of sessions, and cursors. Made from the log',
  hosts: 'Natter: leases, members and the health of processes',
  tokens: 'Natter: access tokens made at run time, as digests',
  pairings: 'Natter: strangers, and who was let in',
  memory: 'Natter: long-term memory. Made from the log',
  witness: 'Natter: how far the log and the queues had reached',
  attachments: 'Natter: images and files that came with messages',
};

/** Of a stream by its name, such as `NATTER_EVENTS` or `KV_natter_index`. */
export const descriptionOf = (stream: string): string | undefined => descriptions[stream.split('_').at(-1)?.toLowerCase() ?? ''];
