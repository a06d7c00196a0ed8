import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type IncomingFile, readFileData } from '../../attachments/incoming-file.ts';
import { bodyOf } from '../../http/input.ts';
import { lastMessage } from '../../http/last-message.ts';
import { programTools } from '../../http/program-tools.ts';
import type { GivenResults } from '../../messages/give-results.ts';
import type { Decision } from '../../runs/follow-run.ts';
import type { Rewind } from '../../runs/rewind.ts';

/**
 * What `DefaultChatTransport` of the AI SDK 6 sends. Only the last message counts: a person's message, or the assistant's message with their
 * answer to an approval in it. Unknown fields are ignored. Throws `NatterError('invalid')` and `'unsupported'`.
 */
export type UiRequest = {
  /** Names the session. */
  readonly id: string;
} & (
  | SaidByPage
  /** `messageId`: the assistant's message that continues. */
  | { readonly answer: Decision; readonly messageId: string }
  | ({ readonly messageId: string } & Pick<GivenResults, 'results' | 'client'>)
);

/** A person's message; `again`: it is there already. */
export type SaidByPage = Pick<Rewind, 'message'> & { readonly again?: Pick<Rewind, 'wants' | 'not'> | undefined };

const id = (missing: string) => z.string(missing).min(1, missing).max(1_024);
const parts = z.array(z.looseObject({ type: z.string('name the type of the part') }), 'use a list of parts');
const filePart = z.object({ url: z.string('use a data URL'), mediaType: z.string().optional(), filename: z.string().optional() });
const userParts = parts.transform((all, context): { text: string; files: IncomingFile[] } => {
  const texts: string[] = [];
  const files: IncomingFile[] = [];
  for (const [index, part] of all.entries()) {
    const wrong = (message: string): void => context.addIssue({ code: 'custom', message, path: [index] });
    if (part.type === 'file') {
      const { data } = filePart.safeParse(part);
      const file = data ? readFileData(data.url, { type: data.mediaType, name: data.filename }) : { problem: 'use a data URL' };
      if ('problem' in file) wrong(file.problem);
      else files.push(file);
    } else if (part.type !== 'text') continue;
    else if (typeof part.text === 'string') texts.push(part.text);
    else wrong('use a text');
  }
  const text = texts.join('\n');
  if (text.trim() === '' && files.length === 0) context.addIssue({ code: 'custom', message: 'have no text; send some' });
  return { text, files };
});

const notByAgent = z.literal(false).optional();

/** A tool part with an answered approval. */
const answeredPart = z.object({
  state: z.literal('approval-responded'),
  approval: z.object({ id: z.string().min(1).max(256), approved: z.boolean(), reason: z.string().max(2_000).optional() }),
});
/** A part with the result of a tool that the page has run itself. */
const resultPart = z
  .discriminatedUnion('state', [
    z.object({ state: z.literal('output-available'), toolCallId: z.string(), providerExecuted: notByAgent, output: z.unknown() }),
    z.object({ state: z.literal('output-error'), toolCallId: z.string(), providerExecuted: notByAgent, errorText: z.string() }),
  ])
  .transform((part) => {
    if (part.state === 'output-error') return { callId: part.toolCallId, outcome: 'error' as const, text: part.errorText };
    const text = typeof part.output === 'string' ? part.output : JSON.stringify(part.output ?? null);
    return { callId: part.toolCallId, outcome: 'ok' as const, text };
  });
const answerParts = parts.transform((all, context) => {
  const [answer] = all.flatMap((part) => answeredPart.safeParse(part).data ?? []).slice(-1);
  if (answer !== undefined) return answer.approval;
  const results = all.slice(all.findLastIndex(({ type }) => type === 'step-start') + 1);
  const given = results.flatMap((part) => resultPart.safeParse(part).data ?? []);
  if (given.length > 0) return given;
  context.addIssue({
    code: 'custom',
    message: "have no answer to an approval and no output of a tool; the last message must be the user's, or have one",
  });
  return z.NEVER;
});

const message = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.literal('user'), id: id('name the message').max(limits.clientIdCharacters), parts: userParts }),
    z.object({ role: z.literal('assistant'), id: id('name the message'), parts: answerParts }),
  ],
  { error: 'use a message of the role "user", or an "assistant" one that is answered' },
);

export const uiChatBody = z.object({
  id: id('name the chat: a session key, or an id of its own'),
  messages: lastMessage(message),
  /** Tools that the page runs itself. */
  tools: programTools.optional(),
  trigger: z
    .enum(['submit-message', 'regenerate-message'], 'use "submit-message" or "regenerate-message"')
    .default('submit-message'),
  /** Of the message that is edited, or of the answer that is not wanted. */
  messageId: z.string().max(1_024).nullish(),
});

export const readUiRequest = (request: FastifyRequest): UiRequest => {
  const { id: name, messages, trigger, messageId, tools: client } = bodyOf(uiChatBody, request);
  const { message: last, field } = messages;
  if (last.role === 'user') {
    const isEdited = messageId === last.id ? ({ wants: 'another text' } as const) : undefined;
    const again =
      trigger === 'regenerate-message' ? ({ wants: 'another answer', not: messageId ?? undefined } as const) : isEdited;
    const { id: clientId } = last;
    return {
      id: name,
      again,
      message: { ...last.parts, client, clientId, idempotencyKey: `ui ${clientId}`, field: `${field}.id` },
    };
  }
  if (trigger === 'regenerate-message') {
    const problem = `${field}: the last message must be the user's, which is answered anew`;
    throw new NatterError('invalid', problem, { field });
  }
  if (Array.isArray(last.parts)) return { id: name, messageId: last.id, results: last.parts, client };
  const { id: approvalId, approved, reason } = last.parts;
  return { id: name, messageId: last.id, answer: { approvalId, verdict: approved ? 'allow-once' : 'deny', reason } };
};
