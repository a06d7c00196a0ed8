import OpenAI from 'openai';
import { type Name, secretOf } from '../access/access-rig.ts';

/** The official client, as it is, at a gateway. It repeats nothing by itself unless told to. */
export const clientFor = (url: string, name: Name | 'stranger' = 'owner', more: object = {}): OpenAI =>
  new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: name === 'stranger' ? 'not-a-token' : secretOf(name),
    maxRetries: 0,
    ...more,
  });

export const user = (content: string) => ({ role: 'user', content }) as const;

/** The chunks of a streamed completion, and their text. */
export const readChunks = async (stream: AsyncIterable<OpenAI.ChatCompletionChunk>) => {
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return { chunks, text: chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('') };
};

/** What a call was refused with. */
export const failureOf = async (call: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
  try {
    await call;
  } catch (error) {
    if (error instanceof OpenAI.APIError) return error;
    throw error;
  }
  throw new Error('the call was not refused');
};
