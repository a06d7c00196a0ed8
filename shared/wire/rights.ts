import { bucketSubject, type Subjects } from './subjects.ts';
import { bucketNames, streamNames } from './topology.ts';

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
  'reader',
  'connector',
] as const;
export type BrokerUser = (typeof brokerUsers)[number];

/** The account that all users are in. Streams of one account cannot be reached from another (nats-server#5219). */
export const brokerAccount = 'NATTER';

/** Each user has its own: who may read all answers could read everything. */
export const inboxPrefixOf = (user: string): string => `_INBOX_${user}`;

/** Subjects that a user may use; whatever is not in a list is refused. May have wildcards. */
export interface Rights {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/**
 * The letters of the table:
 * - `w` publish messages, `h` hear them as they are published
 * - `r` read the stream, `c` see its state and how far its consumers are
 * - `t` take messages from the consumers and acknowledge them
 * - `p` purge, `d` delete single messages
 * - `m` make and change the stream and its consumers; `s` take a snapshot of it, `x` restore one
 */
type Verb = 'w' | 'h' | 'r' | 'c' | 't' | 'p' | 'd' | 'm' | 's' | 'x';

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
    ...{ provisioner: 'm', session: 'c', router: 'wtc', checkpoint: 'c', delivery: 'c', gateway: 'wc' },
    ...{ operator: 'crhx', backup: 'crs' },
  },
  'inbound of one channel': { connector: 'w' },
  commands: {
    ...{ provisioner: 'm', session: 'wtcpd', router: 'wc', checkpoint: 'wc', delivery: 'wc', gateway: 'wc' },
    ...{ operator: 'wcrhdx', backup: 'crs' },
  },
  checkpoints: {
    ...{ provisioner: 'm', session: 'c', router: 'c', checkpoint: 'wtc', delivery: 'c', gateway: 'c' },
    ...{ operator: 'crx', backup: 'crs' },
  },
  'timers of inbound': {
    ...{ provisioner: 'm', session: 'c', router: 'tc', checkpoint: 'c', delivery: 'c', gateway: 'c' },
    ...{ operator: 'crx', backup: 'crs' },
  },
  'timers of commands': {
    ...{ provisioner: 'm', session: 'wtc', router: 'c', checkpoint: 'c', delivery: 'c', gateway: 'wc' },
    ...{ operator: 'crpx', backup: 'crs' },
  },
  'timers of checkpoints': {
    ...{ provisioner: 'm', session: 'c', router: 'c', checkpoint: 'tc', delivery: 'c', gateway: 'c' },
    ...{ operator: 'crx', backup: 'crs' },
  },
  events: {
    ...{ provisioner: 'm', session: 'wr', router: 'c', checkpoint: 'r', delivery: 'r', gateway: 'r' },
    ...{ operator: 'crhpdx', backup: 'crs', reader: 'rh' },
  },
  'notices of stored events': { session: 'wh', checkpoint: 'h', delivery: 'h', gateway: 'h', operator: 'h', reader: 'h' },
  deliveries: { provisioner: 'm', delivery: 'wr', operator: 'crhdx', backup: 'crs' },
  'deliveries of one channel': { connector: 'h' },
  'dead letters': {
    ...{ provisioner: 'm', session: 'w', router: 'w', checkpoint: 'w', delivery: 'w', gateway: 'c' },
    ...{ operator: 'crhpdx', backup: 'crs' },
  },
  audit: { provisioner: 'm', gateway: 'wr', operator: 'wcrx', backup: 'crs' },
  snapshots: { provisioner: 'm', session: 'wr', gateway: 'r', operator: 'wcrx', backup: 'crs' },
  'index rows': { provisioner: 'm', session: 'rh', checkpoint: 'wrh', gateway: 'rh', operator: 'crx', backup: 'crs' },
  'position of the index': { checkpoint: 'w' },
  cursors: { checkpoint: 'wr', delivery: 'wr' },
  memory: { provisioner: 'm', session: 'rh', checkpoint: 'wrh', gateway: 'rh', operator: 'wcrdx', backup: 'crs' },
  'health of processes': {
    ...{ provisioner: 'm', session: 'wr', router: 'wr', checkpoint: 'wr', delivery: 'wr', gateway: 'wr' },
    ...{ operator: 'crx', backup: 'crs' },
  },
  leases: { checkpoint: 'wh', delivery: 'wh' },
  'members of inbound': { router: 'wh' },
  'members of commands': { session: 'wh' },
  'members of checkpoints': { checkpoint: 'wh' },
  tokens: { provisioner: 'm', gateway: 'wrh', operator: 'crhx', backup: 'crs' },
  tickets: { gateway: 'w' },
  probes: {
    ...{ provisioner: 'mw', session: 'w', router: 'w', checkpoint: 'w', delivery: 'w', gateway: 'w', operator: 'w' },
  },
  'live text': { session: 'w', gateway: 'h', operator: 'h', reader: 'h' },
  'requests for live text': { session: 'h', gateway: 'w' },
  'inbox of the gateway': { session: 'w' },
  'inbox of checkpoint': { session: 'w' },
  'inbox of the operator': { session: 'w' },
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
  const bucket = (name: keyof typeof buckets, ...keys: readonly string[]): Resource => ({
    stream: `KV_${buckets[name]}`,
    subjects: keys.map((key) => bucketSubject(buckets[name], key)),
  });
  const queue = (stream: string, ...own: readonly string[]): Resource => ({ stream, consumer: '*', subjects: own });
  const timers = (queue: 'inbound' | 'commands' | 'checkpoints'): Resource => ({
    stream: streams.timers,
    consumer: queue,
    subjects: [`${prefix}.timer.${queue}.*.*`],
  });
  return {
    inbound: queue(streams.inbound, `${prefix}.inbound.*.*`),
    'inbound of one channel': { stream: streams.inbound, subjects: [`${prefix}.inbound.${channel}.*`] },
    commands: queue(streams.commands, `${prefix}.command.*`),
    checkpoints: queue(streams.checkpoints, `${prefix}.checkpoint.*`),
    'timers of inbound': timers('inbound'),
    'timers of commands': timers('commands'),
    'timers of checkpoints': timers('checkpoints'),
    events: { stream: streams.events, subjects: [`${prefix}.event.>`] },
    'notices of stored events': { subjects: [`${prefix}.stored.>`] },
    deliveries: { stream: streams.deliveries, subjects: [`${prefix}.delivery.>`] },
    'deliveries of one channel': { stream: streams.deliveries, subjects: [`${prefix}.delivery.*.${channel}.*`] },
    'dead letters': { stream: streams.dead, subjects: [`${prefix}.dead.*`] },
    audit: { stream: streams.audit, subjects: [`${prefix}.audit.*`] },
    snapshots: bucket('snapshots', '*'),
    'index rows': bucket('index', 'session.>'),
    'position of the index': bucket('index', 'position'),
    cursors: bucket('index', 'cursor.*'),
    memory: bucket('memory', 'memory.>'),
    'health of processes': bucket('hosts', 'health.*'),
    leases: bucket('hosts', 'lease.*'),
    'members of inbound': bucket('hosts', 'inbound.*'),
    'members of commands': bucket('hosts', 'commands.*'),
    'members of checkpoints': bucket('hosts', 'checkpoints.*'),
    tokens: bucket('tokens', 'token.>'),
    tickets: bucket('tokens', 'ticket.*'),
    probes: { stream: streams.probe, subjects: [subjects.probe] },
    'live text': { subjects: [`${prefix}.live.>`] },
    'requests for live text': { subjects: [subjects.join] },
    'inbox of the gateway': { subjects: [`${inboxPrefixOf('gateway')}.>`] },
    'inbox of checkpoint': { subjects: [`${inboxPrefixOf('checkpoint')}.>`] },
    'inbox of the operator': { subjects: [`${inboxPrefixOf('operator')}.>`] },
  };
};

/** The requests of the JetStream API that a right on a stream stands for. */
const requestsOf = (verb: Verb, { stream = '', consumer }: Resource): readonly string[] => {
  const info = `STREAM.INFO.${stream}`;
  const list = consumer === undefined ? [] : [`CONSUMER.LIST.${stream}`];
  const pinned = consumer === '*' ? [`CONSUMER.UNPIN.${stream}.*`] : [];
  switch (verb) {
    case 'w':
    case 'h':
      return [];
    case 'r':
      return [info, `STREAM.MSG.GET.${stream}`, `DIRECT.GET.${stream}`, `DIRECT.GET.${stream}.>`];
    case 'c':
      return [info, ...list, ...(consumer === undefined ? [] : [`CONSUMER.INFO.${stream}.${consumer}`])];
    case 't':
      return [`CONSUMER.MSG.NEXT.${stream}.${consumer}`, ...pinned];
    case 'p':
      return [`STREAM.PURGE.${stream}`];
    case 'd':
      return [`STREAM.MSG.DELETE.${stream}`];
    case 'm':
      return [
        ...[info, `STREAM.CREATE.${stream}`, `STREAM.UPDATE.${stream}`, ...list],
        ...(consumer === undefined ? [] : [`CONSUMER.CREATE.${stream}.${consumer}.>`]),
      ];
    case 's':
      return [`STREAM.SNAPSHOT.${stream}`];
    case 'x':
      return [`STREAM.RESTORE.${stream}`];
  }
};

/** Where messages are acknowledged and snapshots flow. Acknowledgements have a second form, with domain and account (js_ack_fc_v2). */
const flowsOf = (verb: Verb, { stream, consumer }: Resource): readonly string[] => {
  switch (verb) {
    case 't':
      return [`$JS.ACK.${stream}.${consumer}.>`, `$JS.ACK.*.*.${stream}.${consumer}.>`];
    case 's':
      return [`$JS.SNAPSHOT.ACK.${stream}.*`];
    case 'x':
      return [`$JS.SNAPSHOT.RESTORE.${stream}.*`];
    default:
      return [];
  }
};

const api = (request: string): string => `$JS.API.${request}`;

/** The rights of a user under a prefix. Of a connector they are for one channel, as one token of a subject. */
export const rightsOf = (user: BrokerUser, subjects: Subjects, channel = '*'): Rights => {
  const resources = resourcesOf(subjects, channel);
  const publish = new Set<string>();
  const name = user === 'connector' ? `connector-${channel}` : user;
  const subscribe = new Set([`${inboxPrefixOf(name)}.>`]);
  // Which streams there are and as what, and how much room is left.
  if (user !== 'connector' && user !== 'reader') for (const list of ['STREAM.NAMES', 'STREAM.LIST']) publish.add(api(list));
  if (user === 'operator' || user === 'provisioner') publish.add(api('INFO'));
  for (const resource of resourceNames) {
    const { subjects: own, stream } = resources[resource];
    for (const verb of grantOf(resource, user)) {
      if (verb === 'w') for (const subject of own) publish.add(subject);
      if (verb === 'h') for (const subject of own) subscribe.add(subject);
      if (stream === undefined) continue;
      for (const request of requestsOf(verb, resources[resource])) publish.add(api(request));
      for (const flow of flowsOf(verb, resources[resource])) publish.add(flow);
    }
  }
  return { publish: [...publish].sort(), subscribe: [...subscribe].sort() };
};

/** True if everything that `subject` stands for is among the allowed subjects; both may have wildcards. */
export const isAllowed = (allowed: readonly string[], subject: string): boolean =>
  allowed.some((pattern) => covers(pattern.split('.'), subject.split('.')));

const covers = (pattern: readonly string[], tokens: readonly string[]): boolean => {
  for (const [index, part] of pattern.entries()) {
    const token = tokens[index];
    if (part === '>') return token !== undefined;
    if (token === undefined || token === '>' || (part !== '*' && part !== token)) return false;
  }
  return pattern.length === tokens.length;
};
