import { setImmediate as turn } from 'node:timers/promises';
import { headers, type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import { errorMessage } from '../../../shared/kit/errors.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { brokerUsers, inboxPrefixOf, isAllowed, type Rights, resourceNames, resourcesOf } from '../../../shared/wire/rights.ts';
import { type Subjects, subjectsUnder } from '../../../shared/wire/subjects.ts';
import type { Topology } from '../../../shared/wire/topology.ts';
import { credentialsFrom, rightsOfUser, type UserSeed } from '../broker/users.ts';
import { topologyFor, withBroker } from './broker.ts';

/** Subjects to try out on a broker, without wildcards to publish, and as a service would have them to subscribe. */
export type Probes = Rights;

/** A right that a broker grants and must not, or refuses and must not. */
export interface Difference {
  readonly operation: keyof Rights;
  readonly subject: string;
  readonly granted: boolean;
}

/** What is wrong with a user's rights on the broker, one line for each subject; empty: they are as they should be. */
export const checkUser = async (config: Config, servers: string, user: UserSeed): Promise<readonly string[]> => {
  const subjects = subjectsUnder(config.prefix);
  const address = { servers, ...credentialsFrom(user) };
  try {
    return await withBroker(config, address, 'natter broker check', async (connection) => {
      const probes = probesFor(subjects, topologyFor(config));
      const found = await differencesOn(connection, probes, rightsOfUser(user, subjects));
      return found.map(
        ({ operation, subject, granted }) => `${granted ? 'may, but must not' : 'may not, but must'} ${operation} ${subject}`,
      );
    });
  } catch (error) {
    return [errorMessage(error)];
  }
};

/** Requests that name a stream, `%` for it. */
const streamRequests = [
  ...['STREAM.CREATE.%', 'STREAM.UPDATE.%', 'STREAM.DELETE.%', 'STREAM.INFO.%', 'STREAM.PURGE.%', 'STREAM.SNAPSHOT.%'],
  ...['STREAM.RESTORE.%', 'STREAM.MSG.GET.%', 'STREAM.MSG.DELETE.%', 'STREAM.PEER.REMOVE.%', 'STREAM.LEADER.STEPDOWN.%'],
  ...['DIRECT.GET.%', 'DIRECT.GET.%.probe', 'CONSUMER.LIST.%', 'CONSUMER.NAMES.%', 'CONSUMER.CREATE.%'],
];
/** Requests that name a consumer as well, `#` for it. */
const consumerRequests = [
  ...['CONSUMER.CREATE.%.#', 'CONSUMER.CREATE.%.#.probe', 'CONSUMER.DURABLE.CREATE.%.#', 'CONSUMER.DELETE.%.#'],
  ...['CONSUMER.INFO.%.#', 'CONSUMER.MSG.NEXT.%.#', 'CONSUMER.PAUSE.%.#', 'CONSUMER.UNPIN.%.#', 'CONSUMER.RESET.%.#'],
  'CONSUMER.LEADER.STEPDOWN.%.#',
];
const accountRequests = ['INFO', 'STREAM.NAMES', 'STREAM.LIST', 'META.LEADER.STEPDOWN', 'SERVER.REMOVE', 'ACCOUNT.PURGE.probe'];
/** Where acknowledgements, flow control and snapshots go, in both forms. */
const flows = [
  ...['$JS.ACK.%.#.1.1.1.1.1', '$JS.ACK.domain.hash.%.#.1.1.1.1.1', '$JS.FC.%.#.probe', '$JS.FC.domain.hash.%.#.probe'],
  ...['$JS.SNAPSHOT.ACK.%.probe', '$JS.SNAPSHOT.RESTORE.%.probe'],
];

/** Everything there is on a broker of ours, and what there should not be, to compare with the rights of a user. */
export const probesFor = (subjects: Subjects, { streams, consumers }: Topology): Probes => {
  const resources = resourcesOf(subjects, 'probe');
  const ours = resourceNames.flatMap((name) => resources[name].subjects);
  const inboxes = ['_INBOX', ...brokerUsers.map(inboxPrefixOf), inboxPrefixOf('connector-probe')];
  const named = streams.flatMap(({ name: stream }) => {
    const own = consumers.filter((consumer) => consumer.stream === stream).map(({ name }) => name);
    const some = [...new Set([...own.slice(0, 3), 'probe'])];
    const withStream = [...streamRequests.map((request) => `$JS.API.${request}`), '$JS.API.CONSUMER.CREATE.%.probe.>'];
    const withConsumer = [...consumerRequests.map((request) => `$JS.API.${request}`), ...flows];
    return [...withStream, ...some.flatMap((consumer) => withConsumer.map((subject) => subject.replace('#', consumer)))].map(
      (subject) => concrete(subject.replace('%', stream)),
    );
  });
  const elsewhere = ['$SYS.REQ.SERVER.PING', `${subjects.prefix}.probe`, 'probe'];
  const publish = [
    ...[...ours.map(concrete), ...inboxes.map((inbox) => `${inbox}.probe`), ...named],
    ...[...accountRequests.map((request) => `$JS.API.${request}`), ...elsewhere],
  ];
  const wide = ['>', '*.>', `${subjects.prefix}.>`, '$JS.>', '$JS.API.>', '$JS.ACK.>', '$JS.EVENT.>', '$KV.>', '$SYS.>', 'probe'];
  const subscribe = [...ours, ...streams.flatMap((stream) => stream.subjects), ...inboxes.map((inbox) => `${inbox}.>`), ...wide];
  return { publish: [...new Set(publish)], subscribe: [...new Set(subscribe)] };
};

const concrete = (subject: string): string => subject.replaceAll(/[*>]/g, 'probe');

/**
 * Tries out every probe and compares what the broker grants with the rights that the user should have. Nothing is stored, removed
 * or handled by anybody: a stream refuses the messages because they are for another one, the API because they need a server that
 * does not exist, and no service can read them. Each refusal is a line in the broker's log.
 */
export const differencesOn = async (connection: NatsConnection, probes: Probes, rights: Rights): Promise<Difference[]> => {
  const refused = await refusedOn(connection, probes);
  return (['publish', 'subscribe'] as const).flatMap((operation) =>
    probes[operation]
      .map((subject) => ({ operation, subject, granted: !refused[operation].has(subject) }))
      .filter(({ subject, granted }) => granted !== isAllowed(rights[operation], subject)),
  );
};

/** The probes that the broker refuses. */
export const refusedOn = async (connection: NatsConnection, probes: Probes): Promise<Record<keyof Rights, Set<string>>> => {
  const refused = { publish: new Set<string>(), subscribe: new Set<string>() };
  const statuses = connection.status();
  const listening = (async () => {
    for await (const status of statuses) {
      if (status.type !== 'error' || !(status.error instanceof PermissionViolationError)) continue;
      const { operation, subject } = status.error;
      refused[operation === 'publish' ? 'publish' : 'subscribe'].add(subject);
    }
  })();
  const harmless = headers();
  for (const [name, value] of harmlessHeaders) harmless.set(name, value);
  for (const subject of probes.publish) connection.publish(subject, 'probe', { headers: harmless });
  const subscriptions = probes.subscribe.map((subject) => connection.subscribe(subject, { callback: () => {} }));
  await connection.flush();
  // The broker's refusals came before its answer to the flush, but are still on their way to the loop above.
  await turn();
  for (const subscription of subscriptions) subscription.unsubscribe();
  Reflect.get(statuses, 'stop')?.call(statuses);
  await listening;
  return refused;
};

const harmlessHeaders = [
  ['Nats-Expected-Stream', 'natter-probe'],
  ['Nats-Required-Api-Level', '999999'],
  ['KV-Operation', 'DEL'],
] as const;
