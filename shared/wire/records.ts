import { z } from 'zod';
import { auditKinds } from '../domain/access/audit.ts';
import { type SessionKey, sessionKey } from '../domain/keys/session-key.ts';
import type { MemoryEntry } from '../domain/memory/memory-entry.ts';
import type { IndexRow } from '../domain/projections/index-row.ts';
import { type ChannelPairing, pairingLimits } from '../domain/routing/pairing.ts';
import { type CommandAnswer, commandAnswer } from '../domain/session/envelope.ts';
import type { LogWitness } from '../domain/session/log-witness.ts';
import { callAttempt } from '../domain/session/repeats/asked-calls.ts';
import { type ResumeRequest, reportedWaitingPlaces, resumeRequest, waitingDelivery } from '../domain/values/delivery.ts';
import { lastReset } from '../domain/values/expiry.ts';
import { settings } from '../domain/values/settings.ts';
import { approvalRequest, deliveryTarget, origin, sessionSource, timestamp, turnRef } from '../domain/values/types.ts';
import { limits } from '../kit/limits.ts';
import type { AuditRecord } from '../ports/audit-log.ts';
import type { DeadLetter } from '../ports/dead-letters.ts';
import type { Delta } from '../ports/live.ts';
import type { HealthReport } from '../ports/presence.ts';
import { check, decode, encode } from './codec.ts';

/** Encodes and decodes records of one kind. Both functions throw only `NatterError('invalid' | 'too_large')`. */
export interface Codec<T> {
  encode(value: T): Uint8Array;
  decode(bytes: Uint8Array): T;
}

/** The codec of a schema: validates on both sides of the wire. */
export const codecOf = <T>(schema: z.ZodType<T, unknown>, maxBytes: number = limits.commitBytes): Codec<T> => ({
  encode: (value) => encode(check(schema, value), maxBytes),
  decode: (bytes) => check(schema, decode(bytes, maxBytes)),
});

const count = z.int().min(0);
const pendingApproval = approvalRequest.extend({ requestedAt: z.number() });

/** A row of the session index, as stored and as sent. */
export const indexRow = z.object({
  key: sessionKey,
  sessionId: z.string(),
  generation: count,
  status: z.enum(['idle', 'running', 'awaiting_approval', 'awaiting_results', 'inactive']),
  source: sessionSource.nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
  interactedAt: z.number(),
  seq: count,
  rev: count,
  messageCount: count,
  completedTurns: count,
  failedTurns: count,
  refusedMessages: count,
  queuedTurns: count,
  strangersQueued: z.array(z.string()).max(limits.queuedTurns).optional(),
  activeTurnId: z.string().nullable(),
  approval: pendingApproval.nullable().default(null),
  questions: z.array(pendingApproval).max(limits.openQuestions).optional(),
  resultsUntil: z.number().optional(),
  thread: z.string().optional(),
  costUsd: z.number().min(0).default(0),
  lastMessagePreview: z.string(),
  ...{ lastMessageId: z.string().optional(), firstWords: z.string().optional(), firstWordsId: z.string().optional() },
  firstWordsEndedSeq: count.optional(),
  waitingMessages: z
    .array(z.object({ turnId: z.string(), id: z.string(), before: z.object({ preview: z.string(), id: z.string().optional() }) }))
    .max(limits.queuedTurns)
    .optional(),
  revisions: z
    .array(z.object({ of: z.string(), seq: count }))
    .max(limits.revisableMessages)
    .optional(),
  participants: z.array(z.string()).max(limits.participants),
  inputTokens: count,
  outputTokens: count,
  totalTokens: count,
  contextTokens: count,
  model: z.string(),
  systemSent: z.boolean(),
  abortedLastRun: z.boolean(),
  failedLastRun: z.boolean().optional(),
  lastReset: lastReset.optional(),
  description: z.string().default(''),
  descriptionSource: z.enum(['person', 'introspection']).nullable().default(null),
  workingMemory: z.string().default(''),
  introspectedAt: z.number().default(0),
  settings,
  origin,
  lastRoute: deliveryTarget.nullable(),
  deleted: z.boolean(),
  deletedSeq: count.default(0),
  logBytes: count.optional(),
}) satisfies z.ZodType<IndexRow, unknown>;
/** What is written was folded here, from commits that were checked; to check a row of forty fields costs more than to write it. */
export const indexRowCodec: Codec<IndexRow> = { ...codecOf<IndexRow>(indexRow), encode: (row) => encode(row) };

/** A sequence number of the event log: the position of the index or of the memory. */
export const positionCodec = codecOf<{ seq: number }>(z.object({ seq: count }));

const witness = {
  seq: count,
  incarnation: z.number().nullable().default(null),
  digest: z.string().max(64).nullable().default(null),
};
/** A cursor of a reader. Those of older versions have nothing but `seq`. */
export const witnessCodec = codecOf<LogWitness>(z.object(witness));

/** The highest place that writers have seen, how many losses have been accepted, and a place of a queue that was given out twice. */
export const writersWitnessCodec = codecOf<LogWitness & { readonly accepted: number; readonly reused?: number | undefined }>(
  z.object({ ...witness, accepted: count, reused: count.optional() }),
);

/** A message that nobody could process. */
export const deadLetter = z.object({
  id: z.string().min(1),
  service: z.string().min(1).max(64),
  reason: z.string(),
  subject: z.string(),
  at: z.number(),
  bytes: z.instanceof(Uint8Array),
}) satisfies z.ZodType<DeadLetter, unknown>;
/** Its bound is that of the largest message, plus room for the reason. */
export const deadLetterCodec = codecOf<DeadLetter>(deadLetter, limits.commitBytes + 12 * 1024);

const pairingFacts = {
  code: z.string().min(1).max(16),
  senderId: z.string().min(1).max(256),
  name: z.string().max(256).optional(),
};
const channelPairing = z.object({
  v: z.literal(1),
  channel: z.string().min(1).max(64),
  requests: z.array(
    z.object({
      ...pairingFacts,
      inboundId: z.string().min(1).max(limits.idCharacters),
      requestedAt: z.number(),
      expiresAt: z.number(),
      denied: z.literal(true).optional(),
    }),
  ),
  paired: z.array(z.object({ ...pairingFacts, pairedAt: z.number(), by: z.string().max(300) })).max(pairingLimits.senders),
}) satisfies z.ZodType<ChannelPairing, unknown>;
/** The strangers of a channel. */
export const pairingCodec = codecOf<ChannelPairing>(channelPairing);

/** A call that began a session of its own, and the attempt that did. */
export const newCallCodec = codecOf(z.object({ key: z.string().min(1).max(64), attempt: callAttempt.shape.attempt }));

/** A piece of an answer in progress. */
export const delta = z.object({ turn: turnRef, step: z.int().min(1), offset: count, text: z.string() }) satisfies z.ZodType<
  Delta,
  unknown
>;
export const deltaCodec = codecOf<Delta>(delta, limits.commandBytes);

/** A request for the text of the running step so far, with the subject for the answer. */
export const join = z.object({ key: sessionKey, answerTo: z.string().max(256) });
export const joinCodec = codecOf<{ key: SessionKey; answerTo: string }>(join);

/** That parked accounts are to be tried again. */
export const resumeRequestCodec = codecOf<ResumeRequest>(resumeRequest);

/** Outcomes of commands, sent to their callers. */
export const answerCodec = codecOf<CommandAnswer>(commandAnswer);

/** A record of the audit trail. */
export const auditRecord = z.object({
  v: z.literal(1),
  at: timestamp,
  kind: z.enum(auditKinds),
  actor: z.string().max(256),
  target: z.string().max(limits.sessionKeyBytes).optional(),
  outcome: z.enum(['ok', 'refused', 'failed']),
  detail: z.string().max(limits.auditDetailCharacters).optional(),
  address: z.string().max(64).optional(),
  count: z.int().min(1).optional(),
  commitSeq: z.int().min(1).optional(),
}) satisfies z.ZodType<AuditRecord, unknown>;
export const auditCodec = codecOf<AuditRecord>(auditRecord, 8 * 1024);

const texts = z.array(z.string().max(1_000)).max(100);
const healthReport = z.object({
  v: z.literal(1),
  process: z.string().min(1).max(128),
  version: z.string().max(64),
  startedAt: z.number(),
  at: z.number(),
  services: z
    .array(
      z.object({
        name: z.string().max(64),
        member: z.string().min(1).max(128).optional(),
        problems: texts,
        warnings: texts,
        metrics: z.record(z.string().max(128), z.number()),
        waiting: z.array(waitingDelivery).max(reportedWaitingPlaces).optional(),
        held: z
          .array(z.object({ since: timestamp, partitions: z.array(count).max(limits.partitions) }))
          .max(limits.partitions)
          .optional(),
      }),
    )
    .max(16),
  config: z.record(z.string().max(64), z.string().max(64)).optional(),
}) satisfies z.ZodType<HealthReport, unknown>;
/** The health of a process, in the bucket of the hosts. */
export const healthCodec = codecOf<HealthReport>(healthReport);

const memoryPlace = z.object({ key: sessionKey, seq: count });
/** One memory, as stored and as sent. */
export const memoryEntry = z.object({
  id: z.string().min(1).max(limits.idCharacters),
  scope: z.string().min(1),
  text: z.string().min(1).max(limits.memoryCharacters),
  createdAt: timestamp,
  updatedAt: timestamp,
  source: memoryPlace.extend({
    sessionId: z.string(),
    fromRev: count,
    toRev: count,
    by: z.enum(['introspection', 'agent', 'person']),
    person: z.string().optional(),
    callId: z.string().optional(),
  }),
  changes: z.array(memoryPlace).min(1).max(limits.memoryPlaces),
}) satisfies z.ZodType<MemoryEntry, unknown>;
export const memoryCodec = codecOf<MemoryEntry>(memoryEntry, 64 * 1024);
