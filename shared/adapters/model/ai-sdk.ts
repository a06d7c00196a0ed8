import { type LanguageModel, type ModelMessage as SdkMessage, streamText } from 'ai';
import { messageOf } from '../../kit/errors.ts';
import { limits as bounds } from '../../kit/limits.ts';
import type { Clock, Model, ModelMessage, ModelRequest } from '../../ports.ts';
import type { StepOutcome, Usage } from '../../session/types.ts';
import { estimateUsage } from './estimate.ts';

export interface AiSdkOptions {
  readonly name: string;
  readonly model: LanguageModel;
  readonly clock: Clock;
  readonly limits: {
    readonly firstTokenMs: number;
    readonly idleTokenMs: number;
    readonly totalMs: number;
    readonly maxOutputTokens: number;
  };
}

/** Any language model of the AI SDK behind our port: one streamed step a call, deadlines of our own, every failure an outcome. */
export class AiSdkModel implements Model {
  readonly name: string;
  readonly windowTokens = 128_000;
  readonly #options: AiSdkOptions;

  constructor(options: AiSdkOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async step(request: ModelRequest, onText: (text: string) => void, signal: AbortSignal): Promise<StepOutcome> {
    const { model, limits } = this.#options;
    const deadline = new Deadline(this.#options.clock, limits, signal);
    try {
      const messages = toSdk(request.messages);
      const result = streamText({
        model,
        system: request.system,
        messages,
        maxOutputTokens: limits.maxOutputTokens,
        maxRetries: 2,
        abortSignal: deadline.signal,
        onError: () => {},
      });
      let text = '';
      for await (const part of result.fullStream) {
        if (part.type === 'error') throw part.error;
        if (part.type !== 'text-delta') continue;
        deadline.progressed();
        text += part.text;
        if (Buffer.byteLength(text) > bounds.modelOutputBytes) {
          return failed('output_too_large', `the model answered more than ${bounds.modelOutputBytes} bytes`);
        }
        onText(part.text);
      }
      if (deadline.passed !== null) return failed('model_timeout', deadline.passed);
      return { kind: 'reply', text, model: this.name, usage: usageOf(await result.totalUsage, messages, text) };
    } catch (error) {
      return deadline.passed !== null ? failed('model_timeout', deadline.passed) : failed('model_error', messageOf(error));
    } finally {
      deadline.end();
    }
  }
}

const failed = (code: string, message: string): StepOutcome => ({ kind: 'failed', code, message: message.slice(0, 2_000) });

/** The conversation as the provider wants it; in a group each person's name stands before the text. */
const toSdk = (messages: readonly ModelMessage[]): SdkMessage[] => {
  const speakers = new Set(
    messages.flatMap((message) => (message.role === 'user' && message.name !== undefined ? [message.name] : [])),
  );
  return messages.flatMap((message): SdkMessage[] => {
    if (message.role === 'tool') return [];
    if (message.role === 'assistant') return [{ role: 'assistant', content: message.text }];
    const { text, name } = message;
    return [{ role: 'user', content: speakers.size > 1 && name !== undefined ? `${name}: ${text}` : text }];
  });
};

interface ProviderUsage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly totalTokens?: number | undefined;
}
const usageOf = (reported: ProviderUsage, messages: readonly SdkMessage[], text: string): Usage => {
  const { inputTokens, outputTokens } = reported;
  if (inputTokens === undefined || outputTokens === undefined) {
    return estimateUsage(messages.map(({ content }) => String(content)).join('\n'), text);
  }
  return { inputTokens, outputTokens, totalTokens: reported.totalTokens ?? inputTokens + outputTokens };
};

/** Aborts a step that does not begin, stalls, or takes too long, and says which it was. */
class Deadline {
  readonly #abort = new AbortController();
  readonly #clock: Clock;
  readonly #idleTokenMs: number;
  readonly #over = new AbortController();
  #wait = new AbortController();
  /** What went wrong, or `null`. */
  passed: string | null = null;

  constructor(clock: Clock, { firstTokenMs, idleTokenMs, totalMs }: AiSdkOptions['limits'], outer: AbortSignal) {
    this.#clock = clock;
    this.#idleTokenMs = idleTokenMs;
    outer.addEventListener('abort', () => this.#abort.abort(), { once: true, signal: this.#over.signal });
    if (outer.aborted) this.#abort.abort();
    void this.#arm(totalMs, `no complete answer within ${totalMs} ms`, this.#over.signal);
    void this.#arm(firstTokenMs, `no first token within ${firstTokenMs} ms`, this.#wait.signal);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  progressed(): void {
    this.#wait.abort();
    this.#wait = new AbortController();
    void this.#arm(this.#idleTokenMs, `no further token for ${this.#idleTokenMs} ms`, this.#wait.signal);
  }

  end(): void {
    this.#wait.abort();
    this.#over.abort();
  }

  async #arm(ms: number, reason: string, cancelled: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, cancelled);
    if (cancelled.aborted) return;
    this.passed ??= reason;
    this.#abort.abort();
  }
}
