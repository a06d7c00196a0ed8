import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { bodyOf } from '../../http/input.ts';
import { lastMessage } from '../../http/last-message.ts';
import type { Decision, UserText } from '../../runs/follow-run.ts';

/**
 * The input: `RunAgentInput` of AG-UI 1.0. Only the last message counts, and none if the run answers an interrupt. Unknown
 * fields are ignored. Throws `NatterError('invalid')` and `'unsupported'`.
 */
export type AguiRequest = {
  /** Names the session. */
  readonly threadId: string;
  readonly runId: string;
  /** Further context from the application; may be empty. */
  readonly background: string;
} & ({ readonly message: UserText } | { readonly answer: Decision });

const id = (missing: string) => z.string(missing).min(1, missing).max(1_024);

/** A text, or the texts of a list of parts: other parts are ignored, because a run must not fail for an image (AG-UI 1.0, run input). */
const content = z
  .union([z.string(), z.array(z.looseObject({ type: z.string() }))], 'use a text, or a list of parts')
  .transform((given) => {
    if (typeof given === 'string') return given;
    return given.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : [])).join('\n');
  })
  .refine((text) => text.trim() !== '', 'has no text; send some');
const message = z.object({ role: z.literal('user', 'the last message must be the user\'s, or send "resume"'), content });

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
  tools: z.array(z.unknown(), 'use a list of tools').optional(),
  context: z
    .array(z.object({ description: z.string('use a text'), value: z.string('use a text') }), 'use a list')
    .max(100)
    .default([]),
  resume: z.array(resumeEntry, 'use a list').max(1, 'answer the one interrupt that is open').default([]),
});
const saying = z.object({ messages: lastMessage(message) });

export const readAguiRequest = (request: FastifyRequest): AguiRequest => {
  const { threadId, runId, tools = [], context, resume } = bodyOf(runInput, request);
  if (tools.length > 0) {
    const problem = 'tools: those of the application cannot be called; the agent runs its own, leave them out';
    throw new NatterError('unsupported', problem, { field: 'tools' });
  }
  const lines = context.map(({ description, value }) => `${description}: ${value}`);
  const head = { threadId, runId, background: lines.length === 0 ? '' : ['[What the program tells]', ...lines].join('\n') };
  const [entry] = resume;
  if (entry !== undefined) return { ...head, answer: answerIn(entry) };
  const { messages } = bodyOf(saying, request);
  return { ...head, message: { text: messages.message.content, idempotencyKey: `agui ${runId}`, field: 'runId' } };
};

/** A cancelled interrupt denies the approval. */
const answerIn = (entry: z.infer<typeof resumeEntry>): Decision => {
  const { interruptId: approvalId } = entry;
  if (entry.status === 'cancelled') return { approvalId, verdict: 'deny' };
  const { approved, always = false, reason } = entry.payload;
  return { approvalId, verdict: approved ? (always ? 'allow-always' : 'allow-once') : 'deny', reason };
};
