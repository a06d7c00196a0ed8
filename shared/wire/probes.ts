import { brokerUsers, inboxPrefixOf, resourceNames, resourcesOf } from './grants.ts';
import type { Rights } from './rights.ts';
import type { Subjects } from './subjects.ts';
import type { Topology } from './topology.ts';

/** Subjects to try out on a broker, without wildcards to publish, and as a service would have them to subscribe. */
export type Probes = Rights;

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
  const elsewhere = ['$SYS.REQ.SERVER.PING', '$SRV.PING.other', '$SRV.SCHEMA', `${subjects.prefix}.unknown`, 'probe'];
  const publish = [
    ...[...ours.map(concrete), ...inboxes.map((inbox) => `${inbox}.probe`), ...named],
    ...[...accountRequests.map((request) => `$JS.API.${request}`), ...elsewhere],
  ];
  const wide = [
    '>',
    '*.>',
    `${subjects.prefix}.>`,
    '$JS.>',
    '$JS.API.>',
    '$JS.ACK.>',
    '$JS.EVENT.>',
    '$KV.>',
    '$SYS.>',
    '$SRV.>',
    'probe',
  ];
  const subscribe = [...ours, ...streams.flatMap((stream) => stream.subjects), ...inboxes.map((inbox) => `${inbox}.>`), ...wide];
  return { publish: [...new Set(publish)], subscribe: [...new Set(subscribe)] };
};

const concrete = (subject: string): string => subject.replaceAll(/[*>]/g, 'probe');
