/**
 * What a letter of the table in docs/operate/broker.md stands for, written by hand: made from the same source as the rights it would
 * repeat their mistakes.
 */

/** The rows of a stream, and of one of its consumers. */
export const streamRows = (stream: string, consumer?: string): string[] =>
  ({
    NATTER_INBOUND: ['inbound'],
    NATTER_COMMANDS: ['commands'],
    NATTER_CHECKPOINTS: ['checkpoints'],
    NATTER_TIMERS: ['inbound', 'commands', 'checkpoints']
      .filter((queue) => consumer === undefined || consumer === queue)
      .map((queue) => `timers of ${queue}`),
    NATTER_EVENTS: ['events', 'places of lost events'],
    KV_natter_witness: ['witness', 'witness of queues'],
    NATTER_DELIVERIES: ['deliveries'],
    NATTER_DEAD: ['dead letters'],
    NATTER_AUDIT: ['audit', 'deletions in audit'],
    NATTER_PROBE: ['probes'],
    KV_natter_snapshots: ['snapshots'],
    KV_natter_index: ['index rows', 'position of the index', 'cursors'],
    KV_natter_hosts: ['health of processes', 'leases', 'members of inbound', 'members of commands', 'members of checkpoints'],
    KV_natter_tokens: ['tokens', 'tickets', 'calls', 'read marks'],
    KV_natter_pairings: ['pairings'],
    KV_natter_memory: ['memory'],
    OBJ_natter_attachments: ['attachments'],
  })[stream] ?? [];

/** Requests about a stream, and the letters of which one allows each. Of what is not here, nothing is allowed. */
export const requests: readonly [RegExp, string, 'consumer'?][] = [
  [/^\$JS\.API\.STREAM\.INFO\.(\w+)$/, 'rcm'],
  [/^\$JS\.API\.STREAM\.MSG\.GET\.(\w+)$/, 'r'],
  [/^\$JS\.API\.DIRECT\.GET\.(\w+)(?:\.probe)?$/, 'r'],
  [/^\$JS\.API\.STREAM\.(?:CREATE|UPDATE)\.(\w+)$/, 'm'],
  [/^\$JS\.API\.STREAM\.PURGE\.(\w+)$/, 'p'],
  [/^\$JS\.API\.STREAM\.DELETE\.(\w+)$/, 'k'],
  [/^\$JS\.API\.STREAM\.MSG\.DELETE\.(\w+)$/, 'd'],
  [/^\$JS\.API\.STREAM\.SNAPSHOT\.(\w+)$/, 's'],
  [/^\$JS\.SNAPSHOT\.ACK\.(\w+)\.probe$/, 's'],
  [/^\$JS\.API\.STREAM\.RESTORE\.(\w+)$/, 'x'],
  [/^\$JS\.SNAPSHOT\.RESTORE\.(\w+)\.probe$/, 'x'],
  [/^\$JS\.API\.CONSUMER\.LIST\.(NATTER_(?:INBOUND|COMMANDS|CHECKPOINTS|TIMERS))$/, 'cm'],
  // A consumer is made with its name and what it takes, and only those of the topology.
  [/^\$JS\.API\.CONSUMER\.CREATE\.(NATTER_(?:INBOUND|COMMANDS|CHECKPOINTS))\.[\w-]+\.probe$/, 'm'],
  [/^\$JS\.API\.CONSUMER\.CREATE\.(NATTER_TIMERS)\.(\w+)\.probe$/, 'm', 'consumer'],
  [/^\$JS\.API\.CONSUMER\.INFO\.(NATTER_(?:INBOUND|COMMANDS|CHECKPOINTS|TIMERS))\.([\w-]+)$/, 'c', 'consumer'],
  [/^\$JS\.API\.CONSUMER\.MSG\.NEXT\.(\w+)\.([\w-]+)$/, 't', 'consumer'],
  [/^\$JS\.API\.CONSUMER\.UNPIN\.(NATTER_(?:INBOUND|COMMANDS|CHECKPOINTS))\.([\w-]+)$/, 't', 'consumer'],
  [/^\$JS\.ACK\.(?:domain\.hash\.)?(\w+)\.([\w-]+)\.1\.1\.1\.1\.1$/, 't', 'consumer'],
];

/** The subjects of messages, and the rows that they are in. */
export const messages: readonly [RegExp, ...string[]][] = [
  [/^natter\.inbound\.(\*|probe)\.(\*|probe)$/, 'inbound', 'inbound of one channel'],
  [/^natter\.command\.(\*|probe)$/, 'commands'],
  [/^natter\.checkpoint\.(\*|probe)$/, 'checkpoints'],
  [/^natter\.timer\.(inbound|commands|checkpoints)\./, 'timers of %', 'timers of all'],
  [/^natter\.timer\.(?:\*|probe)\./, 'timers of all'],
  [/^natter\.timer\.commands\.(?:\*|probe)\.deadline$/, 'deadlines of sub-agents'],
  [/^natter\.event\.(?!lost)/, 'events'],
  [/^natter\.event\.lost$/, 'events', 'places of lost events'],
  [/^natter\.stored\./, 'notices of stored events'],
  [/^natter\.delivery\.(?!\*\.probe)/, 'deliveries'],
  [/^natter\.delivery\.\*\.probe/, 'deliveries', 'deliveries of one channel'],
  [/^natter\.dead\./, 'dead letters'],
  [/^natter\.audit\./, 'audit'],
  [/^natter\.audit\.session_deleted$/, 'audit', 'deletions in audit'],
  [/^natter\.audit\.pairing_approved$/, 'audit', 'pairings in audit'],
  [/^\$KV\.natter_snapshots\.(\*|probe)$/, 'snapshots'],
  [/^\$KV\.natter_index\.session\./, 'index rows'],
  [/^\$KV\.natter_index\.position$/, 'position of the index'],
  [/^\$KV\.natter_index\.cursor\./, 'cursors'],
  [/^\$KV\.natter_witness\.writers$/, 'witness'],
  [/^\$KV\.natter_witness\.queue\./, 'witness of queues'],
  [/^\$KV\.natter_memory\.memory\./, 'memory'],
  [/^\$O\.natter_attachments\.[CM]\./, 'attachments'],
  [/^\$KV\.natter_hosts\.health\./, 'health of processes'],
  [/^\$KV\.natter_hosts\.lease\./, 'leases'],
  [/^\$KV\.natter_hosts\.(inbound|commands|checkpoints)\./, 'members of %'],
  [/^\$KV\.natter_tokens\.token\./, 'tokens'],
  [/^\$KV\.natter_tokens\.ticket\./, 'tickets'],
  [/^\$KV\.natter_tokens\.call\./, 'calls'],
  [/^\$KV\.natter_tokens\.read\./, 'read marks'],
  [/^\$KV\.natter_pairings\.channel\./, 'pairings'],
  [/^natter\.live\./, 'live text'],
  [/^natter\.join$/, 'requests for live text'],
  [/^natter\.resume$/, 'requests to resume'],
  [/^natter\.probe$/, 'probes'],
  [/^natter\.anchor\.(inbound|commands|checkpoints)$/, '%'],
  [/^natter\.anchor\.timers$/, 'timers of inbound', 'timers of commands', 'timers of checkpoints'],
  [/^natter\.anchor\.(snapshots|memory|pairings)\./, '%'],
  [/^natter\.anchor\.index\./, 'index rows', 'position of the index', 'cursors'],
  [/^natter\.anchor\.witness\./, 'witness', 'witness of queues'],
  [/^natter\.anchor\.tokens\./, 'tokens', 'tickets', 'calls', 'read marks'],
  [
    /^natter\.anchor\.hosts\./,
    ...['health of processes', 'leases', 'members of inbound', 'members of commands', 'members of checkpoints'],
  ],
  [/^_INBOX_gateway\./, 'inbox of the gateway'],
  [/^_INBOX_checkpoint\./, 'inbox of checkpoint'],
  [/^_INBOX_operator\./, 'inbox of the operator'],
  [/^\$SRV\.(?:PING|INFO|STATS)(?:\.natter(?:\.(?:\*|probe))?)?$/, 'requests for what runs'],
];
