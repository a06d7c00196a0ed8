import { type BrokerUser, grantOf, inboxPrefixOf, type Resource, resourceNames, resourcesOf, type Verb } from './grants.ts';
import type { Subjects } from './subjects.ts';

/** The account that all users are in. Streams of one account cannot be reached from another (nats-server#5219). */
export const brokerAccount = 'NATTER';

/** Subjects that a user may use; whatever is not in a list is refused. May have wildcards. */
export interface Rights {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

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
    case 'k':
      return [`STREAM.DELETE.${stream}`];
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

/**
 * What must be denied beside allowed subscriptions: to nats-server (2.15.1) `a.>` is one of the subjects of `a.*`, and it delivers all that
 * is deeper. Subjects that are allowed by themselves are not among them.
 */
export const deeperThan = (allowed: readonly string[]): readonly string[] =>
  allowed
    .filter((subject) => subject.endsWith('.*'))
    .map((subject) => `${subject}.>`)
    .filter((deeper) => !isAllowed(allowed, deeper));

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
