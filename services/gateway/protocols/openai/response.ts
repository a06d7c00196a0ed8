import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { Run } from '../../../../shared/domain/projections/run.ts';
import { assertNever } from '../../../../shared/kit/assert.ts';
import { sseFrame } from '../../http/sse.ts';
import type { Answer } from '../../runs/answer.ts';
import type { OpenAiError } from './failure.ts';

/** Responses as OpenAI's clients know them (`object: response`), whole and as events. An answer is one message with one text. */

/** What is known of a response before it is there. `createdAt`: seconds since 1970. */
export interface ResponseHead {
  readonly id: string;
  readonly runId: string;
  readonly key: SessionKey;
  readonly model: string;
  readonly createdAt: number;
  readonly previousResponseId: string | null;
}

type Status = 'queued' | 'in_progress' | 'completed' | 'failed';
const statusOf = (run: Run | null): Status => {
  if (run === null) return 'in_progress';
  switch (run.status) {
    case 'accepted':
    case 'scheduled':
    case 'queued':
      return 'queued';
    case 'running':
    case 'awaiting_approval':
    case 'timeout':
      return 'in_progress';
    case 'ok':
      return 'completed';
    case 'error':
      return 'failed';
    default:
      return assertNever(run);
  }
};

const partOf = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const messageOf = (head: ResponseHead, text: string | null) => ({
  type: 'message',
  id: `msg_${head.runId}`,
  status: text === null ? 'in_progress' : 'completed',
  role: 'assistant',
  content: text === null ? [] : [partOf(text)],
});

/** The response so far. Options of OpenAI that Natter does not have show their defaults. */
export const responseObject = (head: ResponseHead, answer: Answer | null) => {
  const run = answer?.run ?? null;
  const status = statusOf(run);
  const isDone = answer !== null && status === 'completed';
  return {
    id: head.id,
    object: 'response',
    created_at: head.createdAt,
    status,
    background: false,
    conversation: { id: head.key },
    previous_response_id: head.previousResponseId,
    model: head.model,
    output: isDone ? [messageOf(head, answer.text)] : [],
    error: run?.status === 'error' ? run.error : null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    metadata: run?.status === 'awaiting_approval' ? { approval_id: run.approvalId } : {},
    parallel_tool_calls: true,
    store: true,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
    usage: isDone ? usageOf(answer) : null,
  };
};

const usageOf = ({ tokens: { input, output, total } }: Answer) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: total,
});

/** The same as events of a stream. */
export const responseFrames = (head: ResponseHead) => {
  let count = 0;
  const event = (type: string, data: object): string => sseFrame(type, { type, sequence_number: count++, ...data });
  const response = responseObject(head, null);
  const item = { output_index: 0, item_id: `msg_${head.runId}` };
  const part = { ...item, content_index: 0 };
  return {
    begin: (): string =>
      event('response.created', { response }) +
      event('response.in_progress', { response }) +
      event('response.output_item.added', { output_index: 0, item: messageOf(head, null) }) +
      event('response.content_part.added', { ...part, part: partOf('') }),
    text: (text: string): string => event('response.output_text.delta', { ...part, delta: text, logprobs: [] }),
    end: (answer: Answer): string =>
      event('response.output_text.done', { ...part, text: answer.text, logprobs: [] }) +
      event('response.content_part.done', { ...part, part: partOf(answer.text) }) +
      event('response.output_item.done', { output_index: 0, item: messageOf(head, answer.text) }) +
      event('response.completed', { response: responseObject(head, answer) }),
    /** The error comes twice: flat as OpenAI documents it, and nested as its client libraries expect it. */
    fail: (error: OpenAiError): string => {
      const { code, message, param } = error;
      return event('error', { code, message, param, error });
    },
  };
};
