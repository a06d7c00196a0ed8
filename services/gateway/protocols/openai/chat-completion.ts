import { type Answer, between } from '../../runs/answer.ts';
import type { OpenAiError } from './format/failure.ts';

/** Chat completions as OpenAI's clients know them (`object: chat.completion`), whole and in chunks. */

/** What is known before the answer. `created`: seconds since 1970. */
export interface ChatHead {
  readonly id: string;
  readonly model: string;
  readonly created: number;
}

const usageOf = ({ tokens: { input, output, total } }: Answer) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: total,
});

const callsOf = ({ calls }: Answer) =>
  calls.map(({ callId: id, tool: name, arguments: written }) => ({
    id,
    type: 'function',
    function: { name, arguments: written },
  }));

type Finish = 'stop' | 'tool_calls' | 'length' | 'content_filter';
const finishOf = ({ calls, isTruncated, isFiltered }: Answer): Finish => {
  if (calls.length > 0) return 'tool_calls';
  if (isFiltered) return 'content_filter';
  return isTruncated ? 'length' : 'stop';
};

/** As providers of reasoning models have it. */
const reasoningOf = ({ thoughts }: Answer) =>
  thoughts.length === 0 ? {} : { reasoning_content: thoughts.map(({ text }) => text).join(between) };

export const chatCompletion = (head: ChatHead, answer: Answer) => {
  const calls = callsOf(answer);
  const { refusal } = answer;
  const content = (calls.length > 0 || refusal !== null) && answer.text === '' ? null : answer.text;
  const called = calls.length > 0 && { tool_calls: calls };
  const message = { role: 'assistant', content, refusal, ...reasoningOf(answer), ...called };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finishOf(answer) }];
  return { ...head, object: 'chat.completion', choices, usage: usageOf(answer) };
};

const frame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

/** The same as frames of a stream; the last of them is `[DONE]`. */
export const chatFrames = (head: ChatHead, includeUsage: boolean) => {
  const usage = includeUsage ? { usage: null } : {};
  const chunk = (delta: object, finish: Finish | null = null): string => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return frame({ ...head, object: 'chat.completion.chunk', choices, ...usage });
  };
  return {
    begin: (): string => chunk({ role: 'assistant', content: '', refusal: null }),
    text: (text: string): string => chunk({ content: text }),
    end: (answer: Answer): string => {
      const counted = { ...head, object: 'chat.completion.chunk', choices: [], usage: usageOf(answer) };
      const calls = callsOf(answer).map((call, index) => ({ index, ...call }));
      const called = calls.length > 0 ? chunk({ tool_calls: calls }) : '';
      const refused = answer.refusal === null ? '' : chunk({ refusal: answer.refusal });
      return `${refused}${called}${chunk(reasoningOf(answer), finishOf(answer))}${includeUsage ? frame(counted) : ''}data: [DONE]\n\n`;
    },
    fail: (error: OpenAiError): string => frame({ error }),
  };
};
