import { z } from 'zod';
import { commandAnswer, recordedCommitShape } from '../../../shared/domain/session/envelope.ts';
import { sessionEvent } from '../../../shared/domain/session/events.ts';
import { settings } from '../../../shared/domain/values/settings.ts';
import { approvalRequest, message, sender } from '../../../shared/domain/values/types.ts';
import { healthCodes } from '../../../shared/kit/health-problem.ts';
import { auditRecord, indexRow, memoryEntry } from '../../../shared/wire/records.ts';
import { shownState } from '../../../shared/wire/snapshot.ts';
import { problemStatus } from '../http/problem.ts';
import { verdicts } from './verdicts.ts';

/** The answers of the gateway. Objects may get further fields; readers ignore those they do not know. */

const id = z.string();
const seq = z.int().min(0);
const failure = z.object({ code: z.string(), message: z.string() });
const page = {
  next: z.string().describe('the `after` of the next page; of a page read backwards, its `before`'),
  more: z.boolean(),
};
const nextCursor = z.string().nullable().describe('the `cursor` of the next page; `null`: there is none');

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.enum(Object.keys(problemStatus)),
    detail: z.string(),
    field: z.string().optional(),
    problem: z.enum(healthCodes).optional().describe('why it is `unavailable`, as in `/readyz`'),
    fix: z.string().optional().describe('what to do about that'),
    retryAfterMs: z.number().optional(),
    requestId: id,
  })
  .meta({ id: 'Problem', description: 'RFC 9457. Decide by `code`, which never changes its meaning.' });
const goingOn = z.object({ runId: id, status: z.enum(['accepted', 'scheduled', 'queued', 'running']) });
const cameTo = [
  z.object({ runId: id, status: z.literal('awaiting_approval'), approvalId: id }),
  z.object({ runId: id, status: z.literal('awaiting_results'), callIds: z.array(id) }),
  z.object({ runId: id, status: z.literal('ok'), reply: z.string().nullable() }),
  z.object({ runId: id, status: z.enum(['error', 'timeout']), error: failure }),
] as const;
export const runResult = z.discriminatedUnion('status', [goingOn, ...cameTo]).meta({ id: 'Run' });
export const begunRun = z
  .discriminatedUnion('status', [goingOn.extend({ duplicate: z.boolean().optional(), sendAt: z.number().optional() }), ...cameTo])
  .meta({
    id: 'BegunRun',
    description: 'A run as its call has left it. `duplicate`: it had begun before, by the same Idempotency-Key.',
  });
const took = {
  runId: id,
  status: z.enum(['ok', 'accepted']),
  outcome: commandAnswer.shape.outcome.optional(),
  seq: commandAnswer.shape.seq,
  rev: commandAnswer.shape.rev,
};
export const takenResult = z.object(took).meta({ id: 'Taken', description: 'What a session made of a command.' });
export const checkpointResult = z.object({
  ...took,
  requested: z.boolean().optional().describe('whether anything was said since the last time'),
});
export const forked = z.object({
  key: id,
  ...took,
  sessionId: id.optional().describe('of the new generation'),
  generation: z.int().min(2).optional(),
  forkedFrom: z.object({ sessionId: id, seq, rev: z.int().min(1) }).optional(),
});
export const patched = z.object({ key: id, ...took, settings });

const sessionRow = indexRow
  .extend({
    shownKey: id.describe('the short form that people see, such as `main`; accepted wherever a key is'),
    queueMode: settings.shape.queueMode.unwrap(),
    unread: z.boolean().describe('whether the last message is younger than 30 days and the caller has not seen it'),
  })
  .meta({ id: 'SessionRow', description: 'A session as lists show it; times in ms.' });
export const sessions = z.object({ sessions: z.array(sessionRow), nextCursor });
const nextReset = z.object({
  rule: z.string(),
  due: z.boolean(),
  timeZone: z.string(),
  dailyAt: z.number().optional(),
  idleAt: z.number().optional(),
});
export const session = sessionRow.extend({
  indexedSeq: seq,
  nextReset: nextReset.describe('if the next message comes by the channel of the last one'),
  nextResetByCall: nextReset.describe('if the next message comes by a call, as from the page'),
  queueModeByCall: settings.shape.queueMode.unwrap().describe('what a message of a call does while a turn is running'),
});

export const readMarked = z.object({ key: id, unread: z.boolean() });

export const messagesResult = z.object({
  messages: z.array(
    z.object({
      id,
      seq,
      at: z.number(),
      sessionId: id,
      role: z.enum(['user', 'assistant']),
      messageId: id,
      text: z.string(),
      ...message.pick({ attachments: true, replyTo: true }).partial().shape,
      ...{ sender: sender.optional(), runId: id.optional(), editedAt: z.number().optional() },
    }),
  ),
  ...page,
});

const gap = z
  .object({
    reason: z.enum(['missing', 'changed', 'unreadable']),
    fromRev: z.int().min(1),
    toRev: z.int().min(1).nullable().describe('`null`: not known'),
    afterSeq: seq.describe('of the last commit before it'),
    beforeSeq: seq.nullable().describe('of the first commit after it; `null`: none'),
  })
  .meta({ id: 'Gap', description: 'Commits of a session that cannot be read as they were written.' });
const fact = sessionEvent.meta({ id: 'Fact', description: 'What has happened to a session; see docs/integrate/events.md.' });
const commit = z.object({ ...recordedCommitShape.shape, events: z.array(fact) }).meta({ id: 'Commit' });
export const commits = z.object({ commits: z.array(commit), ...page, gaps: z.array(gap).optional() });

export const damage = z.object({
  key: id,
  gaps: z.array(gap).describe('oldest first, without those that a person has decided about'),
  lastRev: z.int().min(0).describe('of the last commit that can be read'),
  lastSeq: seq,
  known: z
    .object({ rev: z.int().min(0), at: z.number(), sessionId: id, messages: z.int().min(0) })
    .describe('from where a repair goes on'),
});
const storedCommit = z.object({
  seq,
  recordedAt: z.number(),
  bytes: z.base64().describe('the message as it is stored, MessagePack'),
});
export const storedCommits = z.object({ commits: z.array(storedCommit), ...page });

const event = z
  .intersection(
    fact,
    z.object({
      id: id.describe('`<seq>.<index>`'),
      seq,
      index: z.int().min(0),
      rev: z.int().min(1),
      key: id,
      sessionId: id,
      at: z.number(),
      correlationId: id,
      actor: z.string(),
      host: z.string().optional().describe('Name of the host that wrote it'),
    }),
  )
  .meta({ id: 'Event', description: 'A fact with the fields of its commit.' });
export const events = z.object({
  events: z.array(event),
  ...page,
  gaps: z.array(gap.extend({ key: id })).optional(),
});

export const state = shownState.extend({ key: id, from: z.enum(['snapshot', 'log']) }).meta({ id: 'State' });

const place = z.object({ seq, rev: z.int().min(0), at: z.number() });
export const diff = z.object({
  key: id,
  from: place,
  to: place,
  changes: z.array(z.object({ path: z.string(), before: z.unknown(), after: z.unknown() })),
  ...events.omit({ gaps: true }).shape,
});

export const approvals = z.object({
  approvals: z.array(
    z.object({
      approvalId: id,
      sessionKey: id,
      sessionName: z.string().optional().describe('the name that somebody gave the session, or that of its chat'),
      ...approvalRequest.pick({ tool: true, action: true, expiresAt: true }).shape,
      asks: z.enum(['run', 'retry']),
      requestedAt: z.number(),
      approvers: z.array(z.string()),
      onceOnly: z.boolean(),
      pageUrl: z.string().optional().describe('its address on the page, where `gateway.publicUrl` is set'),
    }),
  ),
  nextCursor,
});
export const answered = takenResult.extend({ approvalId: id, sessionKey: id, verdict: z.enum(verdicts) });

const memory = memoryEntry
  .omit({ changes: true })
  .meta({ id: 'Memory', description: 'One thing that is remembered; `source` is its last change. See docs/use/memory.md.' });
export const memories = z.object({ memories: z.array(memory), nextCursor });
export const memoryRead = memory.extend({
  history: z.array(
    z.object({
      ...memoryEntry.shape.source.shape,
      at: z.number(),
      op: z.enum(['add', 'update', 'forget']),
      text: z.string().optional(),
      reason: z.string().optional(),
      from: z.array(z.int().min(1)).optional(),
    }),
  ),
});
export const memoryAdded = takenResult.extend({ id: id.optional(), scope: z.string() });
export const memoryForgotten = takenResult.extend({ id });

export const inbound = z.object({ id, status: z.literal('accepted'), duplicate: z.boolean() });
export const called = z.object({ id: z.union([z.string(), z.number()]).optional(), ok: z.literal(true), result: z.unknown() });

const token = z
  .object({
    id,
    role: z.string(),
    principal: z.string().optional(),
    namespace: z.string().optional(),
    sessionKey: z.string().optional().describe('of a viewer: the session that it is a link to'),
    label: z.string(),
    createdAt: z.number(),
    createdBy: z.string(),
    expiresAt: z.number().optional(),
    revokedAt: z.number().optional(),
    status: z.enum(['active', 'expired', 'revoked']),
    ...{ oldSecretUntil: z.number().optional(), parent: z.string().optional().describe('what a page was opened with') },
  })
  .meta({ id: 'Token' });
export const tokens = z.object({ tokens: z.array(token) });
export const tokenMade = token.extend({
  token: z.string().describe('told this once'),
  publicUrl: z.string().optional().describe('of a viewer: where the page is, if that is configured'),
});
export const tokenShown = token;
export const audit = z.object({
  records: z.array(auditRecord.extend({ seq }).meta({ id: 'AuditRecord' })),
  ...page,
});

export const ticket = z.object({ ticket: z.string(), expiresAt: z.number() });
