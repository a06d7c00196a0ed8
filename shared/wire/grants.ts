import { deadlineTimer } from '../domain/keys/spawn-key.ts';
import { type BucketName, bucketSubject, type Subjects } from './subjects.ts';
import { bucketNames, objectStoreNames, streamNames } from './topology.ts';

/**
 * Who may do what on the broker, as data: one user for each service, with the rights that its code uses and no other. The broker's
 * configuration, the table in docs/operate/broker.md, `natter broker check` and the hostile tests are made from it (ADR 19).
 */
export const brokerUsers = [
  'provisioner',
  'session',
  'router',
  'checkpoint',
  'delivery',
  'gateway',
  'operator',
  'backup',
  'restorer',
  'reader',
  'connector',
] as const;
export type BrokerUser = (typeof brokerUsers)[number];

/** Each user has its own: who may read all answers could read everything. */
export const inboxPrefixOf = (user: string): string => `_INBOX_${user}`;

/**
 * The letters of the table:
 * - `w` publish messages, `h` hear them as they are published
 * - `r` read the stream, `c` see its state and how far its consumers are
 * - `t` take messages from the consumers and acknowledge them
 * - `p` purge, `d` delete single messages
 * - `m` make and change the stream and its consumers, `k` remove it; `s` take a snapshot of it, `x` restore one
 */
export type Verb = 'k' | 'w' | 'h' | 'r' | 'c' | 't' | 'p' | 'd' | 'm' | 's' | 'x';

/** Something on the broker: subjects, and the stream that they are stored in. */
export interface Resource {
  readonly subjects: readonly string[];
  readonly stream?: string;
  /** The consumer of the stream that belongs to it, `*` if all do. Absent: it has none, and nobody may make one. */
  readonly consumer?: string;
}

/** What each user may do with each resource, one letter for each right. */
const grants = {
  inbound: {
    ...{ provisioner: 'm', session: 'c', router: 'wtcp', checkpoint: 'c', delivery: 'c', gateway: 'wc' },
    ...{ operator: 'crh', backup: 'crs', restorer: 'mkxcr' },
  },
  'inbound of one channel': { connector: 'w' },
  commands: {
    ...{ provisioner: 'm', session: 'wtcpd', router: 'wc', checkpoint: 'wc', delivery: 'wc', gateway: 'wc' },
    ...{ operator: 'wcrhpd', backup: 'crsh', restorer: 'mkxcrd' },
  },
  checkpoints: {
    ...{ provisioner: 'm', session: 'c', router: 'c', checkpoint: 'wtcp', delivery: 'c', gateway: 'wc' },
    ...{ operator: 'cr', backup: 'crs', restorer: 'mkxcr' },
  },
  'timers of inbound': {
    ...{ provisioner: 'm', session: 'c', router: 'tc', checkpoint: 'c', delivery: 'c', gateway: 'c' },
    ...{ operator: 'cr', backup: 'crs', restorer: 'mkxcr' },
  },
  'timers of commands': {
    ...{ provisioner: 'm', session: 'wtcp', router: 'c', checkpoint: 'c', delivery: 'c', gateway: 'wcr' },
    ...{ operator: 'crp', backup: 'crs', restorer: 'mkxcrp' },
  },
  'deadlines of sub-agents': { delivery: 'w' },
  'timers of checkpoints': {
    ...{ provisioner: 'm', session: 'c', router: 'c', checkpoint: 'tc', delivery: 'c', gateway: 'c' },
    ...{ operator: 'cr', backup: 'crs', restorer: 'mkxcr' },
  },
  'timers of all': { backup: 'h' },
  events: {
    ...{ provisioner: 'm', session: 'wr', router: 'r', checkpoint: 'r', delivery: 'r', gateway: 'r' },
    ...{ operator: 'crhpd', backup: 'crs', restorer: 'mkxcrwpd', reader: 'rh' },
  },
  'places of lost events': { operator: 'w' },
  'notices of stored events': {
    ...{ session: 'wh', checkpoint: 'h', delivery: 'h', gateway: 'h', operator: 'h', restorer: 'w', reader: 'h' },
  },
  deliveries: { provisioner: 'm', delivery: 'wr', gateway: 'r', operator: 'crhd', backup: 'crs', restorer: 'mkxcrd' },
  'deliveries of one channel': { connector: 'h' },
  'dead letters': {
    ...{ provisioner: 'm', session: 'w', router: 'w', checkpoint: 'w', delivery: 'w', gateway: 'crd' },
    ...{ operator: 'crhd', backup: 'crs', restorer: 'mkxcrd' },
  },
  audit: { provisioner: 'm', gateway: 'wr', operator: 'wcr', backup: 'crs', restorer: 'mkxcrw' },
  'deletions in audit': { checkpoint: 'w' },
  'pairings in audit': { router: 'w' },
  snapshots: { provisioner: 'm', session: 'wr', gateway: 'r', operator: 'wcr', backup: 'crs', restorer: 'mkxcrw' },
  'index rows': {
    provisioner: 'm',
    session: 'r',
    checkpoint: 'wr',
    gateway: 'r',
    operator: 'wcr',
    backup: 'crs',
    restorer: 'mkxcr',
  },
  'position of the index': { checkpoint: 'w', operator: 'w' },
  cursors: { session: 'r', router: 'r', checkpoint: 'wr', delivery: 'wr', gateway: 'r', operator: 'wr' },
  witness: {
    ...{ provisioner: 'm', session: 'wr', router: 'r', checkpoint: 'r', delivery: 'r', gateway: 'r' },
    ...{ operator: 'wcr', backup: 'crs', restorer: 'mkxcrw' },
  },
  'witness of queues': {
    ...{ session: 'w', router: 'w', checkpoint: 'w', delivery: 'w', gateway: 'w', operator: 'w', restorer: 'w' },
  },
  memory: {
    provisioner: 'm',
    session: 'rh',
    checkpoint: 'wrh',
    gateway: 'rh',
    operator: 'wcrd',
    backup: 'crs',
    restorer: 'mkxcrwd',
  },
  attachments: {
    ...{ provisioner: 'm', session: 'r', gateway: 'wr', checkpoint: 'wrd' },
    ...{ operator: 'wcrd', backup: 'crs', restorer: 'mkxcrwd' },
  },
  'health of processes': {
    ...{ provisioner: 'm', session: 'wr', router: 'wr', checkpoint: 'wr', delivery: 'wr', gateway: 'wr' },
    ...{ operator: 'cr', backup: 'crs', restorer: 'mkxcr' },
  },
  leases: { checkpoint: 'wh', delivery: 'wh' },
  'members of inbound': { router: 'wh' },
  'members of commands': { session: 'wh' },
  'members of checkpoints': { checkpoint: 'wh' },
  tokens: { provisioner: 'm', gateway: 'wrh', operator: 'crh', backup: 'crs', restorer: 'mkxcr' },
  tickets: { gateway: 'w' },
  calls: { gateway: 'w' },
  'read marks': { gateway: 'wh' },
  pairings: { provisioner: 'm', router: 'wr', gateway: 'wr', operator: 'cr', backup: 'crs', restorer: 'mkxcr' },
  probes: {
    ...{
      provisioner: 'mw',
      session: 'w',
      router: 'w',
      checkpoint: 'w',
      delivery: 'w',
      gateway: 'w',
      operator: 'w',
      restorer: 'mkw',
    },
  },
  'live text': { session: 'w', gateway: 'h', operator: 'h', restorer: 'w', reader: 'h' },
  'requests for live text': { session: 'h', gateway: 'w' },
  'requests to resume': { delivery: 'h', gateway: 'w' },
  'inbox of the gateway': { session: 'w' },
  'inbox of checkpoint': { session: 'w' },
  'inbox of the operator': { session: 'w', router: 'w', checkpoint: 'w', delivery: 'w', gateway: 'w' },
  'requests for what runs': { session: 'h', router: 'h', checkpoint: 'h', delivery: 'h', gateway: 'h', operator: 'w' },
} as const satisfies Record<string, Partial<Record<BrokerUser, string>>>;
export type ResourceName = keyof typeof grants;
export const resourceNames = Object.keys(grants) as ResourceName[];

/** The letters of a user at a resource; empty: it may do nothing with it. */
export const grantOf = (resource: ResourceName, user: BrokerUser): readonly Verb[] => {
  const granted: Partial<Record<BrokerUser, string>> = grants[resource];
  return [...(granted[user] ?? '')] as Verb[];
};

/** The resources of a system. `channel` is one token of a subject: the connector's. */
export const resourcesOf = (subjects: Subjects, channel: string): Record<ResourceName, Resource> => {
  const { prefix } = subjects;
  const streams = streamNames(prefix);
  const buckets = bucketNames(prefix);
  const { stream, subjects: own } = objectStoreNames(prefix);
  const objects: Resource = { stream, subjects: own };
  const bucket = (name: BucketName, key: string): Resource => ({
    stream: `KV_${buckets[name]}`,
    subjects: [bucketSubject(buckets[name], key), subjects.bucketAnchors(name)],
  });
  const queue = (stream: string, ...own: readonly string[]): Resource => ({ stream, consumer: '*', subjects: own });
  const timers = (queue: 'inbound' | 'commands' | 'checkpoints'): Resource => ({
    stream: streams.timers,
    consumer: queue,
    subjects: [`${prefix}.timer.${queue}.*.*`, subjects.anchor('timers')],
  });
  return {
    inbound: queue(streams.inbound, subjects.published('inbound'), subjects.anchor('inbound')),
    'inbound of one channel': { stream: streams.inbound, subjects: [`${prefix}.inbound.${channel}.*`] },
    commands: queue(streams.commands, subjects.published('commands'), subjects.anchor('commands')),
    checkpoints: queue(streams.checkpoints, subjects.published('checkpoints'), subjects.anchor('checkpoints')),
    'timers of inbound': timers('inbound'),
    'timers of commands': timers('commands'),
    'deadlines of sub-agents': { subjects: [`${prefix}.timer.commands.*.${deadlineTimer}`] },
    'timers of checkpoints': timers('checkpoints'),
    'timers of all': { subjects: [`${prefix}.timer.*.*.*`] },
    events: { stream: streams.events, subjects: [`${prefix}.event.>`] },
    'places of lost events': { stream: streams.events, subjects: [subjects.lost] },
    'notices of stored events': { subjects: [`${prefix}.stored.>`] },
    deliveries: { stream: streams.deliveries, subjects: [`${prefix}.delivery.>`] },
    'deliveries of one channel': { stream: streams.deliveries, subjects: [`${prefix}.delivery.*.${channel}.*`] },
    'dead letters': { stream: streams.dead, subjects: [`${prefix}.dead.*`] },
    audit: { stream: streams.audit, subjects: [`${prefix}.audit.*`] },
    'deletions in audit': { stream: streams.audit, subjects: [subjects.audit('session_deleted')] },
    'pairings in audit': { stream: streams.audit, subjects: [subjects.audit('pairing_approved')] },
    snapshots: bucket('snapshots', '*'),
    'index rows': bucket('index', 'session.>'),
    'position of the index': bucket('index', 'position'),
    cursors: bucket('index', 'cursor.*'),
    witness: bucket('witness', 'writers'),
    'witness of queues': bucket('witness', 'queue.*'),
    memory: bucket('memory', 'memory.>'),
    attachments: objects,
    'health of processes': bucket('hosts', 'health.*'),
    leases: bucket('hosts', 'lease.*'),
    'members of inbound': bucket('hosts', 'inbound.*'),
    'members of commands': bucket('hosts', 'commands.*'),
    'members of checkpoints': bucket('hosts', 'checkpoints.*'),
    tokens: bucket('tokens', 'token.>'),
    tickets: bucket('tokens', 'ticket.*'),
    calls: bucket('tokens', 'call.*'),
    'read marks': bucket('tokens', 'read.*'),
    pairings: bucket('pairings', 'channel.*'),
    probes: { stream: streams.probe, subjects: [subjects.probe] },
    'live text': { subjects: [`${prefix}.live.>`] },
    'requests for live text': { subjects: [subjects.join] },
    'requests to resume': { subjects: [subjects.resume] },
    'inbox of the gateway': { subjects: [`${inboxPrefixOf('gateway')}.>`] },
    'inbox of checkpoint': { subjects: [`${inboxPrefixOf('checkpoint')}.>`] },
    'inbox of the operator': { subjects: [`${inboxPrefixOf('operator')}.>`] },
    'requests for what runs': { subjects: subjects.discovery },
  };
};
