import { createHash } from 'node:crypto';
import type { AuditKind } from '../domain/access/audit.ts';
import type { SessionKey } from '../domain/keys/session-key.ts';
import type { EventType } from '../domain/session/events.ts';
import type { DeliveryTarget } from '../domain/values/types.ts';
import { escapeText, unescapeText } from '../kit/text/escape-text.ts';
import type { CustodyState } from '../ports/custody-log.ts';

/**
 * The only place that builds subject strings. An escaped key (`escapeText`) is one token of a command subject. In an event
 * subject its `:` separate tokens, so that people can subscribe by prefix.
 */

const queueKinds: ReadonlyMap<string, QueueName> = new Map([
  ['command', 'commands'],
  ['inbound', 'inbound'],
  ['checkpoint', 'checkpoints'],
]);
const queueNames: ReadonlySet<string> = new Set(queueKinds.values());

/** A text as one token of a subject: `:` is escaped too. */
export const subjectToken = (text: string): string => escapeText(text).replaceAll(':', '%3A');
const token = subjectToken;

/**
 * A bucket key with one token per part: every UTF-8 byte outside `A-Za-z0-9_-` becomes `=XX`, because bucket keys may not contain
 * `%`. Injective and byte-exact; an empty part becomes `=`.
 */
export const bucketKey = (...parts: readonly string[]): string =>
  parts.map((part) => token(part).replaceAll('%', '=') || '=').join('.');

/** The subject of a bucket key, as in every key-value client. */
export const bucketSubject = (bucket: string, key: string): string => `$KV.${bucket}.${key}`;

/**
 * Where JetStream's object store has the chunks of an attachment, and its description. Each time it is stored the chunks are under an `id` of
 * their own. All of a session: with `*` for digest and id.
 */
export const chunkSubject = (bucket: string, key: string, digest: string, id: string): string =>
  `$O.${bucket}.C.${chunksName(key, digest, id)}`;
/** The same without what comes before it: what the store calls its `nuid`. */
export const chunksName = (key: string, digest: string, id: string): string => `${shortened(token(key))}.${digest}.${id}`;
export const objectSubject = (bucket: string, name: string): string =>
  `$O.${bucket}.M.${Buffer.from(name).toString('base64').replaceAll('+', '-').replaceAll('/', '_')}`;

/** The work queues, as named in timer subjects and metrics. */
export type QueueName = 'commands' | 'inbound' | 'checkpoints';
export type BucketName = 'snapshots' | 'index' | 'hosts' | 'tokens' | 'pairings' | 'memory' | 'witness';

export interface Subjects {
  readonly prefix: string;
  /** Where a command is published; the stream stores it under its partition. */
  command(key: string): string;
  /** All messages of a queue as published. */
  published(queue: QueueName): string;
  /** Where the stream stores a command. */
  storedCommand(published: string, partitions: number): string;
  storedCommands(partition: number): string;
  /** The subject filter for a key's stored commands, in any partition. */
  storedCommandsOf(key: string): string;
  /** Where the places of lost commands are filled, and where the stream stores that. */
  readonly givenUpCommands: string;
  readonly storedGivenUpCommands: string;
  inbound(channel: string, conversation: string): string;
  storedInbound(partition: number): string;
  checkpoint(key: string): string;
  /** Where a scheduled message waits: one subject per queue, key and name. */
  timer(queue: QueueName, key: string, name: string): string;
  /** Everything scheduled, and everything cancelled. */
  readonly publishedTimers: string;
  /** Everything scheduled for a key, under a name, or both. */
  timersOf(queue: QueueName, of: { readonly key?: string; readonly name?: string }): string;
  /** The name in the subject of a timer. */
  nameOfTimer(subject: string): string;
  /** Where the broker puts a scheduled message when it is due. */
  due(queue: QueueName): string;
  event(headline: EventType, key: SessionKey): string;
  /** All commits of a key, whatever their headline: for the fence and for the key's history. */
  eventsOf(key: SessionKey): string;
  eventsUnder(headline: EventType | '*'): string;
  /** Where the places of commits are filled that are lost for good (I13): no reader of commits meets them. */
  readonly lost: string;
  /** Where the writer announces the sequence of a stored commit with this event subject: a hint for followers (ADR 2). */
  stored(events: string): string;
  delivery(state: CustodyState, target: DeliveryTarget): string;
  deliveriesTo(target: DeliveryTarget): string;
  /** The records of a state, in all conversations. */
  deliveriesIn(state: CustodyState): string;
  /** Dead letters of a service from one source: a channel, or a session. */
  dead(service: string, source: string): string;
  /** All of them, of any service. */
  readonly deadLetters: string;
  audit(kind: AuditKind): string;
  live(key: SessionKey): string;
  /** Where a late reader of live text asks for what it missed. */
  readonly join: string;
  /** Where delivery is asked to try parked accounts again. */
  readonly resume: string;
  /** The queue that a message with this subject waits in, or in whose timers; `null` for other messages. */
  queueOf(subject: string): { readonly queue: QueueName; readonly timed: boolean } | null;
  /** What this system is as a NATS micro-service, and where its processes are asked for. */
  readonly serviceName: string;
  readonly discovery: readonly string[];
  /** Where each process proves that the broker can store. */
  readonly probe: string;
  /** Where a stream of work keeps its anchors (ADR 25). */
  anchor(stream: QueueName | 'timers'): string;
  /** Where a bucket keeps its anchors: with a `*` for one of many places. */
  bucketAnchors(bucket: BucketName): string;
  /** The key of an event subject. */
  keyOfEvent(subject: string): string;
}

/**
 * A subject must fit into one protocol line (4,096 bytes on most brokers), so a very long token is replaced by its hash.
 */
const longestToken = 1_024;
const shortened = (text: string): string =>
  text.length <= longestToken ? text : `~${createHash('sha256').update(text).digest('hex')}`;
const conversationOf = ({ to, accountId, threadId }: DeliveryTarget): string =>
  shortened([accountId ?? '', to, threadId ?? ''].map(token).join('~'));

const published: Readonly<Record<QueueName, string>> = {
  commands: 'command.*',
  inbound: 'inbound.*.*',
  checkpoints: 'checkpoint.*',
};

/** In the place of a key: an escaped one has no `~`. */
const givenUp = '~lost';
/** True for a message that fills the place of a lost command; one may be out when a person accepts the loss. */
export const isGivenUp = (storedSubject: string): boolean => storedSubject.endsWith(`.${givenUp}`);

/** All subjects under a prefix (default `natter`; several systems can share a broker). */
export const subjectsUnder = (prefix: string): Subjects => {
  const path = (key: SessionKey): string => escapeText(key).replaceAll(':', '.');
  const serviceName = prefix.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return {
    prefix,
    command: (key) => `${prefix}.command.${escapeText(key)}`,
    published: (queue) => `${prefix}.${published[queue]}`,
    storedCommand: (published, partitions) => {
      const name = published.slice(`${prefix}.command.`.length);
      return `${prefix}.command.${partitionOf(partitions, name)}.${name}`;
    },
    storedCommands: (partition) => `${prefix}.command.${partition}.*`,
    storedCommandsOf: (key) => `${prefix}.command.*.${escapeText(key)}`,
    givenUpCommands: `${prefix}.command.${givenUp}`,
    storedGivenUpCommands: `${prefix}.command.*.${givenUp}`,
    inbound: (channel, conversation) => `${prefix}.inbound.${token(channel)}.${token(conversation)}`,
    storedInbound: (partition) => `${prefix}.inbound.${partition}.*.*`,
    checkpoint: (key) => `${prefix}.checkpoint.${escapeText(key)}`,
    timer: (queue, key, name) => `${prefix}.timer.${queue}.${token(key)}.${token(name)}`,
    publishedTimers: `${prefix}.timer.*.*.*`,
    timersOf: (queue, { key, name }) =>
      `${prefix}.timer.${queue}.${key === undefined ? '*' : token(key)}.${name === undefined ? '*' : token(name)}`,
    nameOfTimer: (subject) => unescapeText(subject.slice(subject.lastIndexOf('.') + 1)),
    due: (queue) => `${prefix}.due.${queue}`,
    event: (headline, key) => `${prefix}.event.${headline}.${path(key)}`,
    eventsOf: (key) => `${prefix}.event.*.${path(key)}`,
    eventsUnder: (headline) => `${prefix}.event.${headline}.>`,
    lost: `${prefix}.event.lost`,
    stored: (events) => `${prefix}.stored.${events.slice(`${prefix}.event.`.length)}`,
    delivery: (state, target) => `${prefix}.delivery.${state}.${token(target.channel)}.${conversationOf(target)}`,
    deliveriesTo: (target) => `${prefix}.delivery.*.${token(target.channel)}.${conversationOf(target)}`,
    deliveriesIn: (state) => `${prefix}.delivery.${state}.>`,
    dead: (service, source) => `${prefix}.dead.${token(service)}~${shortened(token(source))}`,
    deadLetters: `${prefix}.dead.*`,
    audit: (kind) => `${prefix}.audit.${kind}`,
    live: (key) => `${prefix}.live.${path(key)}`,
    join: `${prefix}.join`,
    resume: `${prefix}.resume`,
    queueOf: (subject) => {
      const [kind, queue] = subject.startsWith(`${prefix}.`) ? subject.slice(prefix.length + 1).split('.') : [];
      if (kind === 'timer' || kind === 'due')
        return queueNames.has(queue ?? '') ? { queue: queue as QueueName, timed: true } : null;
      const waitsIn = queueKinds.get(kind ?? '');
      return waitsIn === undefined ? null : { queue: waitsIn, timed: false };
    },
    serviceName,
    discovery: ['PING', 'INFO', 'STATS'].flatMap((verb) =>
      ['', `.${serviceName}`, `.${serviceName}.*`].map((of) => `$SRV.${verb}${of}`),
    ),
    probe: `${prefix}.probe`,
    anchor: (stream) => `${prefix}.anchor.${stream}`,
    bucketAnchors: (bucket) => `${prefix}.anchor.${bucket}.*`,
    keyOfEvent: (subject) =>
      unescapeText(
        subject
          .split('.')
          .slice(prefix.split('.').length + 2)
          .join(':'),
      ),
  };
};

/**
 * The partition in which the broker puts a subject: FNV-1a 32 of the hashed tokens, as `{{partition(n,…)}}` computes it. `tokens`
 * are the escaped wildcard tokens that the transform hashes, in order.
 */
export const partitionOf = (partitions: number, ...tokens: readonly string[]): number => {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(tokens.join(''), 'utf8')) {
    hash ^= byte;
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return hash % partitions;
};

/** The token of a key in a command subject, for `partitionOf`. */
export const commandToken = (key: string): string => escapeText(key);

export const inboundTokens = (channel: string, conversation: string): [string, string] => [token(channel), token(conversation)];
