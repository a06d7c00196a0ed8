import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { Run } from '../../../../shared/domain/projections/run.ts';
import type { ClientRequest } from '../../../../shared/domain/values/client-request.ts';
import type { ToolCall } from '../../../../shared/domain/values/types.ts';
import { assertNever } from '../../../../shared/kit/assert.ts';
import { sseFrame } from '../../http/sse.ts';
import type { Answer, StepThoughts } from '../../runs/answer.ts';
import type { OpenAiError } from './format/failure.ts';
import { callItem, refusalPart, textPart } from './format/items.ts';
import { isUnstored } from './format/session-names.ts';

/** Responses as OpenAI's clients know them (`object: response`), whole and as events. An answer is one message with one text, and calls after it. */

/** What is known of a response before it is there. `createdAt`: seconds since 1970. */
export interface ResponseHead {
  readonly id: string;
  readonly runId: string;
  readonly key: SessionKey;
  readonly model: string;
  readonly createdAt: number;
  readonly previousResponseId: string | null;
  /** Whether it was answered before it had an answer. Only the call knew. */
  readonly isBackground?: boolean;
  /** What the request asked of the model. */
  readonly client?: ClientRequest | undefined;
}

type Status = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';
const statusOf = (run: Run | null, isTruncated = false): Status => {
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
      return isTruncated ? 'incomplete' : 'completed';
    case 'awaiting_results':
      return 'completed';
    case 'error':
      if (run.error.code === 'model_refused') return 'incomplete';
      return run.error.code === 'aborted' ? 'cancelled' : 'failed';
    default:
      return assertNever(run);
  }
};

const partsOf = ({ text, refusal }: Answer) => [
  ...(refusal === null || text !== '' ? [textPart(text)] : []),
  ...(refusal === null ? [] : [refusalPart(refusal)]),
];
const messageOf = (head: Pick<ResponseHead, 'runId'>, answer: Answer | null) => ({
  type: 'message',
  id: `msg_${head.runId}`,
  status: answer === null ? 'in_progress' : 'completed',
  role: 'assistant',
  content: answer === null ? [] : partsOf(answer),
});
/** Whether the answer is of calls alone. */
const isMute = ({ text, refusal, calls }: Answer): boolean => calls.length > 0 && text === '' && refusal === null;

/** What the model thought in one step, after what it said: it is recorded with that. */
const thoughtItem = ({ runId }: Pick<ResponseHead, 'runId'>, { step, text }: StepThoughts) => ({
  ...{ type: 'reasoning', id: `rs_${runId}_${step}`, status: 'completed', encrypted_content: null },
  summary: [{ type: 'summary_text', text }],
});

const isDone = ({ run, isTruncated }: Answer): boolean => ['completed', 'incomplete'].includes(statusOf(run, isTruncated));

/** The items of an answer; none before it is there. */
export const outputOf = (head: Pick<ResponseHead, 'runId'>, answer: Answer): { readonly id: string }[] => {
  if (!isDone(answer)) return [];
  const { calls, thoughts } = answer;
  return [
    ...(isMute(answer) ? [] : [messageOf(head, answer)]),
    ...calls.map((call) => callItem(call)),
    ...thoughts.map((thought) => thoughtItem(head, thought)),
  ];
};

/** What the request asked for, as far as it was passed on; options that Natter does not have show their defaults. */
const requestedOf = ({ client = {} }: ResponseHead) => {
  const {
    tools = [],
    toolChoice = 'auto',
    parallelCalls = true,
    temperature = null,
    topP = null,
    maxOutputTokens,
    format,
  } = client;
  const { kind: _, schema, ...shape } = format ?? { kind: 'json' };
  const json = schema === undefined ? { type: 'json_object' } : { type: 'json_schema', ...shape, schema: JSON.parse(schema) };
  return {
    max_output_tokens: maxOutputTokens ?? null,
    parallel_tool_calls: parallelCalls,
    temperature,
    text: { format: format === undefined ? { type: 'text' } : json },
    tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', name: toolChoice.tool },
    tools: tools.map(({ parameters, ...tool }) => ({
      type: 'function',
      ...tool,
      parameters: JSON.parse(parameters),
      strict: tool.strict ?? false,
    })),
    top_p: topP,
  };
};

export const responseObject = (head: ResponseHead, answer: Answer | null) => {
  const run = answer?.run ?? null;
  const status = statusOf(run, answer?.isTruncated);
  return {
    id: head.id,
    object: 'response',
    created_at: head.createdAt,
    status,
    background: head.isBackground ?? null,
    conversation: isUnstored(head.key) ? null : { id: head.key },
    previous_response_id: head.previousResponseId,
    model: head.model,
    output: answer === null ? [] : outputOf(head, answer),
    error: run?.status === 'error' && status === 'failed' ? run.error : null,
    incomplete_details: status === 'incomplete' ? { reason: answer?.isFiltered ? 'content_filter' : 'max_output_tokens' } : null,
    instructions: null,
    metadata: run?.status === 'awaiting_approval' ? { approval_id: run.approvalId } : {},
    store: !isUnstored(head.key),
    truncation: 'disabled',
    ...requestedOf(head),
    usage: answer !== null && isDone(answer) ? usageOf(answer) : null,
  };
};

const usageOf = ({ tokens: { input, output, total } }: Answer) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: total,
});

const thoughtFrames = (
  head: ResponseHead,
  thought: StepThoughts,
  output_index: number,
  event: (type: string, data: object) => string,
): string => {
  const item = thoughtItem(head, thought);
  const { text } = thought;
  const place = { output_index, item_id: item.id, summary_index: 0 };
  return (
    event('response.output_item.added', { output_index, item: { ...item, summary: [], status: 'in_progress' } }) +
    event('response.reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } }) +
    event('response.reasoning_summary_text.delta', { ...place, delta: text }) +
    event('response.reasoning_summary_text.done', { ...place, text }) +
    event('response.reasoning_summary_part.done', { ...place, part: { type: 'summary_text', text } }) +
    event('response.output_item.done', { output_index, item })
  );
};

/**
 * The same as events of a stream, those after the number `startingAfter`. The message begins with its first text, so that an answer of calls
 * alone has none. A piece of text has the number of its last character, so that a stream that is read again has the same numbers, however its
 * text is cut.
 */
export const responseFrames = (head: ResponseHead, startingAfter = -1) => {
  let last = -1;
  let [hasMessage, hasText] = [false, false];
  const told = (type: string, data: object): string => sseFrame(type, { type, sequence_number: last, ...data });
  const event = (type: string, data: object): string => {
    last += 1;
    return last > startingAfter ? told(type, data) : '';
  };
  const response = responseObject(head, null);
  const item = { output_index: 0, item_id: `msg_${head.runId}` };
  const part = { ...item, content_index: 0 };
  const beginMessage = (): string => {
    if (hasMessage) return '';
    hasMessage = true;
    return event('response.output_item.added', { output_index: 0, item: messageOf(head, null) });
  };
  const beginText = (): string => {
    if (hasText) return '';
    hasText = true;
    return beginMessage() + event('response.content_part.added', { ...part, part: textPart('') });
  };
  const endText = (text: string): string =>
    beginText() +
    event('response.output_text.done', { ...part, text, logprobs: [] }) +
    event('response.content_part.done', { ...part, part: textPart(text) });
  const refuse = (refusal: string): string => {
    const place = { ...item, content_index: hasText ? 1 : 0 };
    return (
      beginMessage() +
      event('response.content_part.added', { ...place, part: refusalPart('') }) +
      event('response.refusal.delta', { ...place, delta: refusal }) +
      event('response.refusal.done', { ...place, refusal }) +
      event('response.content_part.done', { ...place, part: refusalPart(refusal) })
    );
  };
  const endMessage = (answer: Answer): string =>
    (answer.refusal === null || answer.text !== '' ? endText(answer.text) : '') +
    (answer.refusal === null ? '' : refuse(answer.refusal)) +
    event('response.output_item.done', { output_index: 0, item: messageOf(head, answer) });
  const call = (made: ToolCall, output_index: number): string => {
    const place = { output_index, item_id: `fc_${made.callId}` };
    return (
      event('response.output_item.added', { output_index, item: callItem(made, false) }) +
      event('response.function_call_arguments.delta', { ...place, delta: made.arguments }) +
      event('response.function_call_arguments.done', { ...place, name: made.tool, arguments: made.arguments }) +
      event('response.output_item.done', { output_index, item: callItem(made) })
    );
  };
  return {
    begin: (): string => event('response.created', { response }) + event('response.in_progress', { response }),
    text: (text: string): string => {
      const begun = beginText();
      const delta = text.slice(Math.max(0, startingAfter - last));
      last += text.length;
      return delta === '' ? begun : begun + told('response.output_text.delta', { ...part, delta, logprobs: [] });
    },
    end: (answer: Answer): string => {
      const message = isMute(answer) ? '' : endMessage(answer);
      const calls = answer.calls.map((made, index) => call(made, index + (hasMessage ? 1 : 0))).join('');
      const before = (hasMessage ? 1 : 0) + answer.calls.length;
      const thoughts = answer.thoughts.map((thought, index) => thoughtFrames(head, thought, before + index, event)).join('');
      const ended = responseObject(head, answer);
      const type = ended.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
      return message + calls + thoughts + event(type, { response: ended });
    },
    /** The error comes twice: flat as OpenAI documents it, and nested as its client libraries expect it. */
    fail: (error: OpenAiError): string => {
      const { code, message, param } = error;
      last += 1;
      return told('error', { code, message, param, error });
    },
  };
};
