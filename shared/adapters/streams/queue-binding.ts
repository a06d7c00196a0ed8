import type { InboundEnvelope } from '../../domain/routing/inbound-envelope.ts';
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

/** What makes a work queue a queue of these messages: all that differs between the commands and the inbound envelopes is data. */
export interface QueueBinding<T> {
  /** Its members and its timers are told apart from another queue's by this. */
  readonly name: QueueName;
  readonly stream: string;
  /** The service whose dead letters its bad messages are. */
  readonly service: string;
  encode(message: T): Uint8Array;
  /** Throws on anything that is not a `T`. */
  decode(bytes: Uint8Array): T;
  /** The same id again is the same message. */
  idOf(message: T): string;
  /** Messages of one key stay in order. */
  keyOf(message: T): string;
  /** Where messages of a key are published; the broker stores them under the key's partition. */
  subjectOf(key: string): string;
  /** Where a message waits for its time, and where it appears when that has come: both in the stream of the timers. */
  timerSubjectOf(key: string, name: string): string;
  readonly dueSubject: string;
  readonly timerStream: string;
  partitionOf(key: string): number;
  /** A handler that takes longer than this, ms, hangs. Default: 30 s. */
  readonly stuckMs?: number;
}

/** Where a queue of this name and its timers are. */
const placesOf = (name: QueueName, subjects: Subjects) => ({
  name,
  stream: streamNames(subjects.prefix)[name],
  timerSubjectOf: (key: string, timer: string) => subjects.timer(name, key, timer),
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

/** Inbound envelopes, keyed `<channel>:<conversation id>`; a channel's name has no `:`. */
export const inboundBinding = (subjects: Subjects, partitions: number): QueueBinding<InboundEnvelope> => ({
  ...placesOf('inbound', subjects),
  service: 'router',
  encode: encodeInbound,
  decode: decodeInbound,
  idOf: ({ channel, accountId, id }) => JSON.stringify([channel, accountId ?? null, id]),
  keyOf: ({ channel, conversation }) => `${channel}:${conversation.id}`,
  subjectOf: (key) => subjects.inbound(...conversationOf(key)),
  partitionOf: (key) => partitionOf(partitions, ...inboundTokens(...conversationOf(key))),
});

/** Requests to look back, keyed by session. A model of a provider may take its time, and be asked several times. */
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
