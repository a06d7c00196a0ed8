import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { listener } from './listener.ts';

/** A real HTTP server that speaks the wire formats of model providers, streams only, and misbehaves as a test wants. */
export interface ProviderServer {
  /** The base URL for a configuration. */
  readonly url: string;
  readonly requests: readonly ProviderRequest[];
  /** The headers of those who asked for its models. */
  readonly listings: readonly IncomingHttpHeaders[];
  close(): void;
}
export interface ProviderRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: any;
  readonly at: number;
}
export type Answer = (response: ServerResponse) => Promise<void> | void;

/** Answers the first request with the first answer, and so on; all that follow with the last. */
export const startProvider = async (...answers: readonly [Answer, ...Answer[]]): Promise<ProviderServer> => {
  const requests: ProviderRequest[] = [];
  const listings: IncomingHttpHeaders[] = [];
  const server = createServer(
    listener(async (request, response) => {
      if (request.method === 'GET' && request.url === '/v1/models') {
        listings.push(request.headers);
        return status(200, { object: 'list', data: offeredModels.map((id) => ({ id, object: 'model' })) })(response);
      }
      if (request.method === 'GET') return status(404, openai.error('not_found', 'no such address'))(response);
      const body = JSON.parse(await text(request));
      const answer = answers[Math.min(requests.length, answers.length - 1)];
      requests.push({ path: request.url ?? '', headers: request.headers, body, at: performance.now() });
      await answer?.(response);
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}/v1`, requests, listings, close };
};

/** The models that it lists. */
const offeredModels: readonly string[] = ['huge', 'tiny'];

// ------------------------------------------------------------------------------------------------ what it answers

/** A part of a stream: bytes, a pause, an end that never comes, a connection that breaks. */
export type Frame = string | Uint8Array | { readonly waitMs: number } | 'hang' | 'reset';

export const stream =
  (...frames: readonly (Frame | Iterable<Frame>)[]): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    for (const frame of frames.flatMap((one) => (isFrame(one) ? [[one]] : [one]))) {
      for (const part of frame) if (!(await play(part, response))) return;
    }
    response.end();
  };
const isFrame = (one: Frame | Iterable<Frame>): one is Frame =>
  typeof one === 'string' || one instanceof Uint8Array || 'waitMs' in one;

/** Plays a frame; false when nothing can follow. */
const play = async (frame: Frame, response: ServerResponse): Promise<boolean> => {
  if (frame === 'hang' || response.destroyed) return false;
  if (frame === 'reset') {
    response.socket?.resetAndDestroy();
    return false;
  }
  if (typeof frame === 'object' && 'waitMs' in frame) await new Promise((resolve) => setTimeout(resolve, frame.waitMs));
  else if (!response.write(frame)) await drained(response);
  return true;
};
const drained = async (response: ServerResponse): Promise<void> => {
  const over = new AbortController();
  await Promise.race(['drain', 'close'].map((name) => once(response, name, { signal: over.signal })));
  over.abort();
};

export const status =
  (code: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
export const hang: Answer = () => {};
/** Breaks the connection instead of an answer. */
export const reset: Answer = (response) => {
  response.socket?.resetAndDestroy();
};

/** So many bytes of frames that say nothing. */
export function* padding(bytes: number, frame: string): Generator<string> {
  for (let sent = 0; sent < bytes; sent += frame.length) yield frame;
}

// ------------------------------------------------------------------------------------------------ the wire formats

export interface WireUsage {
  readonly input: number;
  readonly output: number;
  /** What OpenRouter says it cost. */
  readonly cost?: number;
}
/** What both wire formats can say, each in its own words. */
export interface Dialect {
  readonly kind: 'openai-compatible' | 'anthropic';
  begin(): string;
  text(...pieces: string[]): string;
  /** Only Anthropic signs what it thinks. */
  thought(text: string, signature?: string): string;
  /** A call whose arguments come in these fragments. */
  call(index: number, name: string, ...fragments: string[]): string;
  end(why: 'stop' | 'calls' | 'length' | 'refused', usage?: WireUsage): string;
  /** An error in the middle of a stream. */
  broken(type: string, message: string): string;
  error(type: string, message: string): object;
}

type Choice = ChatCompletionChunk.Choice;
const chunk = (choices: readonly Choice[], usage?: ChatCompletionChunk['usage']): string => {
  const whole: ChatCompletionChunk = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'tiny',
    choices: [...choices],
    ...(usage && { usage }),
  };
  return `data: ${JSON.stringify(whole)}\n\n`;
};
const delta = (said: Choice['delta'] & { reasoning_content?: string }): string =>
  chunk([{ index: 0, delta: said, finish_reason: null }]);
const reasons = { stop: 'stop', calls: 'tool_calls', length: 'length', refused: 'content_filter' } as const;

/** Typed by the provider's own client. */
export const openai: Dialect = {
  kind: 'openai-compatible',
  begin: () => delta({ role: 'assistant', content: '' }),
  text: (...pieces) => pieces.map((content) => delta({ content })).join(''),
  thought: (reasoning_content) => delta({ reasoning_content }),
  call: (index, name, ...fragments) =>
    [
      delta({ tool_calls: [{ index, id: `call_wire_${index}`, type: 'function', function: { name, arguments: '' } }] }),
      ...fragments.map((written) => delta({ tool_calls: [{ index, function: { arguments: written } }] })),
    ].join(''),
  end: (why, usage) => {
    const { input = 0, output = 0, ...cost } = usage ?? {};
    const counted = usage && { prompt_tokens: input, completion_tokens: output, total_tokens: input + output, ...cost };
    const last = chunk([{ index: 0, delta: {}, finish_reason: reasons[why] }]);
    return `${last}${counted ? chunk([], counted) : ''}data: [DONE]\n\n`;
  },
  broken: (type, message) => `data: ${JSON.stringify({ error: { type, message, code: null } })}\n\n`,
  error: (type, message) => ({ error: { message, type, param: null, code: null } }),
};

const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const block = (index: number, content_block: object, deltas: readonly object[]): string =>
  event('content_block_start', { index, content_block }) +
  deltas.map((delta) => event('content_block_delta', { index, delta })).join('') +
  event('content_block_stop', { index });
const stopReasons = { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens', refused: 'refusal' } as const;

/** The text is block 0, a thought block 50, and the calls are the blocks from 1 on. */
export const anthropic: Dialect = {
  kind: 'anthropic',
  begin: () =>
    event('message_start', {
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'tiny',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 0, output_tokens: 0 },
      },
    }),
  text: (...pieces) =>
    block(
      0,
      { type: 'text', text: '' },
      pieces.map((text) => ({ type: 'text_delta', text })),
    ),
  thought: (thinking, signature) =>
    block(50, { type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking },
      ...(signature === undefined ? [] : [{ type: 'signature_delta', signature }]),
    ]),
  call: (index, name, ...fragments) =>
    block(
      index + 1,
      { type: 'tool_use', id: `toolu_${index}`, name, input: {} },
      fragments.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    ),
  end: (why, usage) =>
    event('message_delta', {
      delta: { stop_reason: stopReasons[why], stop_sequence: null },
      usage: { ...(usage && { input_tokens: usage.input }), output_tokens: usage?.output ?? 0 },
    }) + event('message_stop', {}),
  broken: (type, message) => event('error', { error: { type, message } }),
  error: (type, message) => ({ type: 'error', error: { type, message } }),
};
