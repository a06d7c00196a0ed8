import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { attachment } from '../values/attachment.ts';

/**
 * Parameters and results of the session tools (A10/100–121): one set of schemas for the agent's tools, the RPC methods and the
 * other interfaces.
 */

/** The kinds that lists distinguish (A10/101, 104). */
export const listKinds = ['main', 'group', 'cron', 'hook', 'node', 'other'] as const;
export type ListKind = (typeof listKinds)[number];

/** A count that is capped instead of refused when it is too large (A10/101, 115). */
const clamped = (least: number, most: number) =>
  z
    .int()
    .min(least, `use a whole number of at least ${least}`)
    .transform((count) => Math.min(count, most));

const sessionKeyText = z
  .string()
  .min(1, 'is empty; use for example "main"')
  .max(1_024)
  .describe('The session: "main", or a key as a list of sessions has it.');

export const sessionsListParameters = z.strictObject({
  kinds: z.array(z.enum(listKinds)).min(1).max(listKinds.length).optional().describe('Only sessions of these kinds.'),
  limit: clamped(1, limits.toolRows).default(50).describe(`Sessions at most; more than ${limits.toolRows} count as that.`),
  activeMinutes: z.number().min(1).max(10_000_000).optional().describe('Only sessions with activity in the last minutes.'),
  messageLimit: clamped(0, limits.toolRowMessages)
    .default(0)
    .describe(
      `Last messages of each session, without tool results; 0 is none, more than ${limits.toolRowMessages} count as that.`,
    ),
});
export type SessionsListParameters = z.infer<typeof sessionsListParameters>;

export const sessionsHistoryParameters = z.strictObject({
  sessionKey: sessionKeyText,
  limit: clamped(1, limits.pageRows).default(100).describe(`Messages at most; more than ${limits.pageRows} count as that.`),
  includeTools: z.boolean().default(false).describe('Also the results of tools.'),
});
export type SessionsHistoryParameters = z.infer<typeof sessionsHistoryParameters>;

export const sessionsSendParameters = z.strictObject({
  sessionKey: sessionKeyText,
  message: z.string().min(1, 'is empty; send some text').max(limits.commandBytes),
  timeoutSeconds: z
    .number()
    .min(0, 'use 0 to not wait, or seconds')
    .transform((seconds) => Math.min(seconds, limits.waitSeconds))
    .default(30)
    .describe('How long to wait for the answer; 0 sends it and does not wait.'),
});
export type SessionsSendParameters = z.infer<typeof sessionsSendParameters>;

/** One message of a transcript: role, content blocks, time (ms). `id` is the id of its event. */
export const transcriptMessage = z.object({
  role: z.enum(['user', 'assistant', 'toolResult']),
  content: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string() }),
      /** A tool call by the assistant; `arguments` is as the model wrote it. */
      z.object({ type: z.literal('toolCall'), id: z.string(), name: z.string(), arguments: z.string() }),
    ]),
  ),
  timestamp: z.number(),
  id: z.string(),
  messageId: z.string().optional(),
  runId: z.string().optional(),
  sender: z.object({ id: z.string(), name: z.string().optional() }).optional(),
  /** Files that came with it; one with a `digest` is at `/v1/sessions/{key}/attachments/{digest}`. */
  attachments: z.array(attachment).optional(),
  /** The id of an earlier message whose text this one replaces, or which was withdrawn. */
  edits: z.string().optional(),
  withdraws: z.string().optional(),
  model: z.string().optional(),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number(), totalTokens: z.number() }).optional(),
  /** For a tool result: the call it answers, and whether the call failed. */
  toolCallId: z.string().optional(),
  toolName: z.string().optional(),
  isError: z.boolean().optional(),
});
export type TranscriptMessage = z.infer<typeof transcriptMessage>;

/** A session in a list (A10/103–114). Unknown values are left out. */
export const sessionRow = z.object({
  key: z.string(),
  kind: z.enum(listKinds),
  provider: z.string(),
  /** Same as `provider`; the newer name (C7). */
  channel: z.string(),
  displayName: z.string().optional(),
  updatedAt: z.number(),
  sessionId: z.string(),
  model: z.string().optional(),
  contextTokens: z.number(),
  totalTokens: z.number(),
  thinkingLevel: z.string().optional(),
  verboseLevel: z.string().optional(),
  systemSent: z.boolean(),
  abortedLastRun: z.boolean(),
  failedLastRun: z.boolean(),
  sendPolicy: z.enum(['allow', 'deny']).optional(),
  lastChannel: z.string().optional(),
  lastTo: z.string().optional(),
  transcriptPath: z.string().optional(),
  messages: z.array(transcriptMessage).optional(),
});
export type SessionRow = z.infer<typeof sessionRow>;

export const sessionsListResult = z.object({ count: z.int(), sessions: z.array(sessionRow) });
export type SessionsListResult = z.infer<typeof sessionsListResult>;

export const sessionsHistoryResult = z.object({
  sessionKey: z.string(),
  sessionId: z.string(),
  /** Oldest first. */
  messages: z.array(transcriptMessage),
});
export type SessionsHistoryResult = z.infer<typeof sessionsHistoryResult>;

const runId = z.string();
const failure = z.object({ code: z.string(), message: z.string() });
/** The outcome of a sent message (A10/118–121). After `timeout` the run continues: read the history later. */
export const sessionsSendResult = z.discriminatedUnion('status', [
  z.object({ runId, status: z.literal('accepted') }),
  z.object({ runId, status: z.literal('ok'), reply: z.string().nullable() }),
  z.object({ runId, status: z.literal('timeout'), error: failure }),
  z.object({ runId, status: z.literal('error'), error: failure }),
]);
export type SessionsSendResult = z.infer<typeof sessionsSendResult>;
