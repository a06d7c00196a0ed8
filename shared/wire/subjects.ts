import { createHash } from 'node:crypto';
import type { AuditKind } from '../domain/access/audit.ts';
import type { SessionKey } from '../domain/keys/session-key.ts';
import type { EventType } from '../domain/session/events.ts';
import type { DeliveryTarget } from '../domain/values/types.ts';
import { escapeText, unescapeText } from '../kit/escape-text.ts';
import type { CustodyState } from '../ports/custody-log.ts';

/** One token: `:` is escaped too. */
const token = (text: string): string => escapeText(text).replaceAll(':', '%3A');

/**
 * A key of a bucket, one token for each part: every UTF-8 byte outside `A-Za-z0-9_-` becomes `=XX`, because a bucket key may not have `%`.
 * Injective and byte-exact; a part is never an empty token.
 */
export const bucketKey = (...parts: readonly string[]): string =>
  parts.map((part) => token(part).replaceAll('%', '=') || '=').join('.');

/** The subject of a bucket's key, as every key-value client has it. */
export const bucketSubject = (bucket: string, key: string): string => `$KV.${bucket}.${key}`;

/** The work queues, by what their members and their timers go by. */
export type QueueName = 'commands' | 'inbound' | 'checkpoints';

export interface Subjects {
  readonly prefix: string;
  /** Where a command is published; the stream stores it under its partition. */
  command(key: string): string;
  storedCommands(partition: number): string;
  /** A key's commands as they are stored, whatever its partition. */
  storedCommandsOf(key: string): string;
  inbound(channel: string, conversation: string): string;
  storedInbound(partition: number): string;
  checkpoint(key: string): string;
  /** Where a message to be published later waits: one for each queue, key and name. */
  timer(queue: QueueName, key: string, name: string): string;
  /** All that waits for a key. */
  timersOf(queue: QueueName, key: string): string;
  /** Where the broker puts it when it is due. */
  due(queue: QueueName): string;
  event(headline: EventType, key: SessionKey): string;
  /** Every commit of a key, whatever its headline: the fence, and the key's history. */
  eventsOf(key: SessionKey): string;
  eventsUnder(headline: EventType | '*'): string;
  /** Where the writer tells the sequence of a commit of these event subjects once it is stored: a nudge for followers (ADR 2). */
  stored(events: string): string;
  delivery(state: CustodyState, target: DeliveryTarget): string;
  deliveriesTo(target: DeliveryTarget): string;
  dead(service: string): string;
  audit(kind: AuditKind): string;
  live(key: SessionKey): string;
  /** Where a reader of live text that comes late asks for what it missed. */
  readonly join: string;
  /** The key of an event subject. */
  keyOfEvent(subject: string): string;
}

/** A subject has to fit into one line of the protocol (4,096 bytes at most brokers), so a very long conversation goes by its hash. */
const longestConversation = 1_024;
const conversationOf = ({ to, accountId, threadId }: DeliveryTarget): string => {
  const conversation = [accountId ?? '', to, threadId ?? ''].map(token).join('~');
  if (conversation.length <= longestConversation) return conversation;
  return `~${createHash('sha256').update(conversation).digest('hex')}`;
};

/** All subjects under a prefix (default `natter`; several systems can share a broker). */
export const subjectsUnder = (prefix: string): Subjects => {
  const path = (key: SessionKey): string => escapeText(key).replaceAll(':', '.');
  return {
    prefix,
    command: (key) => `${prefix}.command.${escapeText(key)}`,
    storedCommands: (partition) => `${prefix}.command.${partition}.*`,
    storedCommandsOf: (key) => `${prefix}.command.*.${escapeText(key)}`,
    inbound: (channel, conversation) => `${prefix}.inbound.${token(channel)}.${token(conversation)}`,
    storedInbound: (partition) => `${prefix}.inbound.${partition}.*.*`,
    checkpoint: (key) => `${prefix}.checkpoint.${escapeText(key)}`,
    timer: (queue, key, name) => `${prefix}.timer.${queue}.${token(key)}.${token(name)}`,
    timersOf: (queue, key) => `${prefix}.timer.${queue}.${token(key)}.*`,
    due: (queue) => `${prefix}.due.${queue}`,
    event: (headline, key) => `${prefix}.event.${headline}.${path(key)}`,
    eventsOf: (key) => `${prefix}.event.*.${path(key)}`,
    eventsUnder: (headline) => `${prefix}.event.${headline}.>`,
    stored: (events) => `${prefix}.stored.${events.slice(`${prefix}.event.`.length)}`,
    delivery: (state, target) => `${prefix}.delivery.${state}.${token(target.channel)}.${conversationOf(target)}`,
    deliveriesTo: (target) => `${prefix}.delivery.*.${token(target.channel)}.${conversationOf(target)}`,
    dead: (service) => `${prefix}.dead.${token(service)}`,
    audit: (kind) => `${prefix}.audit.${kind}`,
    live: (key) => `${prefix}.live.${path(key)}`,
    join: `${prefix}.join`,
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
 * The partition the broker puts a subject token into: FNV-1a 32 of the hashed tokens, as `{{partition(n,…)}}` computes it.
 * `tokens` are the escaped wildcard tokens the transform hashes, in order.
 */
export const partitionOf = (partitions: number, ...tokens: readonly string[]): number => {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(tokens.join(''), 'utf8')) {
    hash ^= byte;
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return hash % partitions;
};

/** The token of a key in a command subject, as `partitionOf` wants it. */
export const commandToken = (key: string): string => escapeText(key);

export const inboundTokens = (channel: string, conversation: string): [string, string] => [token(channel), token(conversation)];
