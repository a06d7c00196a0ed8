import type { Answer } from '../../runs/answer.ts';
import type { OpenAiError } from './failure.ts';

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

const finishOf = ({ calls }: Answer): 'stop' | 'tool_calls' => (calls.length > 0 ? 'tool_calls' : 'stop');

export const chatCompletion = (head: ChatHead, answer: Answer) => {
  const calls = callsOf(answer);
  const content = calls.length > 0 && answer.text === '' ? null : answer.text;
  const message = { role: 'assistant', content, refusal: null, ...(calls.length > 0 && { tool_calls: calls }) };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finishOf(answer) }];
  return { ...head, object: 'chat.completion', choices, usage: usageOf(answer) };
};

const frame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

/** The same as frames of a stream; the last of them is `[DONE]`. */
export const chatFrames = (head: ChatHead, includeUsage: boolean) => {
  const usage = includeUsage ? { usage: null } : {};
  const chunk = (delta: object, finish: 'stop' | 'tool_calls' | null = null): string => {
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
      return `${called}${chunk({}, finishOf(answer))}${includeUsage ? frame(counted) : ''}data: [DONE]\n\n`;
    },
    fail: (error: OpenAiError): string => frame({ error }),
  };
};
