import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { limits } from '../../../../shared/kit/limits.ts';
import { bodyOf } from '../../http/input.ts';
import { lastMessage } from '../../http/last-message.ts';
import { programTools } from '../../http/program-tools.ts';
import type { GivenResults } from '../../messages/give-results.ts';
import type { Decision, UserText } from '../../runs/follow-run.ts';
import { messageContent } from './content.ts';

/**
 * The input: `RunAgentInput` of AG-UI 1.0. Only the last message counts, and none if the run answers an interrupt. Without messages the
 * thread is loaded again. Unknown fields are ignored. Throws `NatterError('invalid')`.
 */
export type AguiRequest = {
  /** Names the session. */
  readonly threadId: string;
  readonly runId: string;
  /** Further context from the application; may be empty. */
  readonly background: string;
} & ({ readonly message: UserText } | { readonly answer: Decision } | Results | { readonly isReload: true });

/** Results of the application's own tools, and what it brings along from here on. */
type Results = Pick<GivenResults, 'results' | 'client'>;

const id = (missing: string) => z.string(missing).min(1, missing).max(1_024);

const message = z.object({
  role: z.literal('user', 'the last message must be the user\'s, or send "resume"'),
  content: messageContent,
  id: id('give the message an id').max(limits.clientIdCharacters).optional(),
});

const payload = z.object({
  approved: z.boolean('use true or false'),
  always: z.boolean('use true or false').optional(),
  reason: z.string('use a text').max(2_000).optional(),
});
const resumeEntry = z.discriminatedUnion(
  'status',
  [
    z.object({ interruptId: id('name the interrupt'), status: z.literal('resolved'), payload }),
    z.object({ interruptId: id('name the interrupt'), status: z.literal('cancelled') }),
  ],
  { error: 'use "resolved" with a payload, or "cancelled"' },
);

export const runInput = z.object({
  threadId: id('name the thread: a session key, or an id of its own'),
  runId: id('name the run'),
  messages: z.unknown(),
  tools: programTools.optional(),
  context: z
    .array(z.object({ description: z.string('use a text'), value: z.string('use a text') }), 'use a list')
    .max(100)
    .default([]),
  resume: z.array(resumeEntry, 'use a list').max(1, 'answer the one interrupt that is open').default([]),
});
const saying = z.object({ messages: lastMessage(message) });

export const readAguiRequest = (request: FastifyRequest): AguiRequest => {
  const { threadId, runId, tools: client, context, resume, messages: said } = bodyOf(runInput, request);
  const lines = context.map(({ description, value }) => `${description}: ${value}`);
  const head = { threadId, runId, background: lines.length === 0 ? '' : ['[What the program tells]', ...lines].join('\n') };
  const [entry] = resume;
  if (entry !== undefined) return { ...head, answer: answerIn(entry) };
  const results = resultsIn(said);
  if (results.length > 0) return { ...head, results, client };
  if (Array.isArray(said) && said.length === 0) return { ...head, isReload: true };
  const { messages } = bodyOf(saying, request);
  const { content, id: clientId } = messages.message;
  return { ...head, message: { client, clientId, ...content, idempotencyKey: `agui ${runId}`, field: 'runId' } };
};

const toolMessage = z.object({
  role: z.literal('tool'),
  toolCallId: z.string(),
  content: z.string().default(''),
  error: z.string().optional(),
});

/** The results at the end of the messages. */
const resultsIn = (messages: unknown): Results['results'] => {
  const all = (Array.isArray(messages) ? messages : []).map((message) => toolMessage.safeParse(message).data);
  return all.slice(all.lastIndexOf(undefined) + 1).flatMap((result) => {
    if (result === undefined) return [];
    const { toolCallId: callId, content, error } = result;
    return [{ callId, outcome: error === undefined ? ('ok' as const) : ('error' as const), text: error ?? content }];
  });
};

/** A cancelled interrupt denies the approval. */
const answerIn = (entry: z.infer<typeof resumeEntry>): Decision => {
  const { interruptId: approvalId } = entry;
  if (entry.status === 'cancelled') return { approvalId, verdict: 'deny' };
  const { approved, always = false, reason } = entry.payload;
  return { approvalId, verdict: approved ? (always ? 'allow-always' : 'allow-once') : 'deny', reason };
};
