import { type InboundEnvelope, identityOf } from '../../domain/routing/inbound-envelope.ts';
import type { CheckpointRequest, CommandEnvelope } from '../../domain/session/envelope.ts';
import {
  decodeCheckpoint,
  decodeCommand,
  decodeInbound,
  encodeCheckpoint,
  encodeCommand,
  encodeInbound,
} from '../../wire/codec.ts';
import { commandToken, inboundTokens, partitionOf, type QueueName, type Subjects } from '../../wire/subjects.ts';
import { streamNames } from '../../wire/topology.ts';

/** The data that distinguishes one work queue from another. */
export interface QueueBinding<T> {
  /** Separates its members and timers from those of other queues. */
  readonly name: QueueName;
  readonly stream: string;
  /** The service named in its dead letters. */
  readonly service: string;
  encode(message: T): Uint8Array;
  /** Throws on anything that is not a `T`. */
  decode(bytes: Uint8Array): T;
  /** A repeated id means the same message. */
  idOf(message: T): string;
  /** Messages with the same key stay in order. */
  keyOf(message: T): string;
  /** Where messages of a key are published; the broker stores them under the key's partition. */
  subjectOf(key: string): string;
  /** Where a scheduled message waits, and where it appears when due: both in the timer stream. */
  timerSubjectOf(key: string, name: string): string;
  /** The subjects of those of a key, under a name, or both, and the name in one. */
  timersOf(of: { readonly key?: string; readonly name?: string }): string;
  nameOfTimer(subject: string): string;
  readonly dueSubject: string;
  readonly timerStream: string;
  partitionOf(key: string): number;
  /** Milliseconds after which a handler counts as stuck. Default: 30 s. */
  readonly stuckMs?: number;
}

/** The streams and subjects of a queue and its timers. */
const placesOf = (name: QueueName, subjects: Subjects) => ({
  name,
  stream: streamNames(subjects.prefix)[name],
  timerSubjectOf: (key: string, timer: string) => subjects.timer(name, key, timer),
  timersOf: (of: { readonly key?: string; readonly name?: string }) => subjects.timersOf(name, of),
  nameOfTimer: subjects.nameOfTimer,
  dueSubject: subjects.due(name),
  timerStream: streamNames(subjects.prefix).timers,
});

/** Commands, keyed by session. */
export const commandBinding = (subjects: Subjects, partitions: number): QueueBinding<CommandEnvelope> => ({
  ...placesOf('commands', subjects),
  service: 'session',
  encode: encodeCommand,
  decode: decodeCommand,
  idOf: (command) => command.id,
  keyOf: (command) => command.key,
  subjectOf: subjects.command,
  partitionOf: (key) => partitionOf(partitions, commandToken(key)),
});

/** Inbound envelopes, keyed `<channel>:<conversation id>`; channel names contain no `:`. */
export const inboundBinding = (subjects: Subjects, partitions: number): QueueBinding<InboundEnvelope> => ({
  ...placesOf('inbound', subjects),
  service: 'router',
  encode: encodeInbound,
  decode: decodeInbound,
  idOf: (envelope) => {
    const { channel, accountId, id, conversation } = identityOf(envelope);
    return JSON.stringify([channel, accountId ?? null, id, ...(conversation === undefined ? [] : [conversation])]);
  },
  keyOf: ({ channel, conversation }) => `${channel}:${conversation.id}`,
  subjectOf: (key) => subjects.inbound(...conversationOf(key)),
  partitionOf: (key) => partitionOf(partitions, ...inboundTokens(...conversationOf(key))),
});

/** Checkpoint requests, keyed by session. A provider's model may be slow, and may be asked several times. */
export const checkpointBinding = (subjects: Subjects, partitions: number): QueueBinding<CheckpointRequest> => ({
  ...placesOf('checkpoints', subjects),
  service: 'checkpoint',
  encode: encodeCheckpoint,
  decode: decodeCheckpoint,
  idOf: (request) => request.id,
  keyOf: (request) => request.key,
  subjectOf: subjects.checkpoint,
  partitionOf: (key) => partitionOf(partitions, commandToken(key)),
  stuckMs: 15 * 60_000,
});

const conversationOf = (key: string): [channel: string, conversation: string] => {
  const colon = key.indexOf(':');
  return [key.slice(0, colon), key.slice(colon + 1)];
};
