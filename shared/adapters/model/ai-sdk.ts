import { withFilesTaken, withoutFiles } from '../../domain/prompt/given-files.ts';
import type { ModelRequest } from '../../domain/prompt/model-request.ts';
import { type FileKind, kindOfFile } from '../../domain/values/media-type.ts';
import type { StepOutcome } from '../../domain/values/types.ts';
import { backoffMs } from '../../kit/backoff.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Model } from '../../ports/model.ts';
import { type Answer, readAnswer } from './answer.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { callOptions, type ProviderModel } from './prompt.ts';
import { ModelTrouble, troubleOf } from './trouble.ts';
import { countedUsage, estimateUsage } from './usage.ts';
import { type Deadlines, Watch } from './watch.ts';

export interface AiSdkOptions {
  readonly name: string;
  readonly windowTokens: number;
  /** The kinds of files that it is given. */
  readonly inputs: readonly FileKind[];
  /** It can be told that some tokens are more or less likely. */
  readonly takesBias: boolean;
  /** Creates the SDK's model, which sends its requests with this `fetch`. */
  model(fetch: typeof globalThis.fetch): Promise<ProviderModel>;
  readonly clock: Clock;
  readonly limits: Deadlines & {
    readonly maxOutputTokens: number;
    /** Retries of a step after 429, 5xx or a failed connection. */
    readonly retries: number;
  };
  /** Hides secrets in a provider's messages. */
  scrub(text: string): string;
}

/**
 * A language model of the AI SDK behind our port. It uses the SDK's provider interface, `doStream`: that is exactly one step, and
 * tool calls come back with their arguments as the model wrote them. `streamText` would parse them and lose what is not JSON, and
 * it does not honour the provider's retry delay.
 */
export class AiSdkModel implements Model {
  readonly name: string;
  readonly windowTokens: number;
  readonly #options: AiSdkOptions;

  constructor(options: AiSdkOptions) {
    this.name = options.name;
    this.windowTokens = options.windowTokens;
    this.#options = options;
  }

  takes(type: string): boolean {
    const kind = kindOfFile(type);
    return kind !== null && this.#options.inputs.includes(kind);
  }

  async step(asked: ModelRequest, onText: (text: string) => void, signal: AbortSignal): Promise<StepOutcome> {
    const { clock, limits, takesBias } = this.#options;
    if (asked.settings?.logitBias !== undefined && !takesBias) return this.#failed(noBias);
    let request = withFilesTaken(asked, (type) => this.takes(type));
    const watch = new Watch(clock, limits, signal);
    let hasText = false;
    const emitText = (text: string): void => {
      hasText = true;
      onText(text);
    };
    try {
      for (let retry = 0; ; retry++) {
        const outcome = await this.#ask(request, emitText, watch);
        if (!(outcome instanceof ModelTrouble)) return outcome;
        if (mayBeFiles.has(outcome.code) && !hasText && hasFiles(request)) {
          request = withoutFiles(request, 'the provider did not take it');
          continue;
        }
        const waitMs = outcome.afterMs ?? backoffMs(retries, retry);
        const again = outcome.again && !hasText && retry < limits.retries && waitMs < watch.leftMs;
        if (!again) return this.#failed(outcome);
        await clock.sleep(waitMs, watch.signal);
      }
    } finally {
      watch.end();
    }
  }

  /** Sends the request once. */
  async #ask(request: ModelRequest, emitText: (text: string) => void, watch: Watch): Promise<StepOutcome | ModelTrouble> {
    const { model, clock, limits } = this.#options;
    const { maxOutputTokens } = limits;
    const [providerName = ''] = this.name.split('/');
    try {
      watch.asked();
      const provider = await model(guardedFetch(watch));
      const { stream } = await provider.doStream({
        ...callOptions(request, providerName),
        maxOutputTokens: Math.min(request.settings?.maxOutputTokens ?? maxOutputTokens, maxOutputTokens),
        abortSignal: watch.signal,
        includeRawChunks: true,
      });
      return this.#outcome(request, await readAnswer(stream, emitText, watch), emitText);
    } catch (error) {
      return watch.stopped ?? (await troubleOf(error, clock.now()));
    } finally {
      watch.rest();
    }
  }

  #outcome(request: ModelRequest, answer: Answer, emitText: (text: string) => void): StepOutcome {
    const { text, isRefusal, calls, reasoning, finish } = answer;
    const usage =
      countedUsage(finish.usage) ?? estimateUsage(request, text + calls.map((call) => call.tool + call.arguments).join(''));
    const { showsReasoning = false, maxOutputTokens: wanted } = request.settings ?? {};
    const kept = reasoning.filter(
      ({ signature, redacted }) => showsReasoning || signature !== undefined || redacted !== undefined,
    );
    const thought = kept.map((part) => ({ ...part, text: part.text.toWellFormed() }));
    const step = {
      ...{ text: text.toWellFormed(), model: this.name, usage },
      ...(thought.length > 0 && { reasoning: thought }),
      ...(isRefusal && { refused: true as const }),
    };
    if (calls.length > 0) return { kind: 'continue', ...step, calls: [...calls] };
    if (finish.finishReason.unified !== 'length') return { kind: 'reply', ...step };
    // A program that sets a limit is told by the end of its answer.
    if (wanted !== undefined) return { kind: 'reply', ...step, truncated: true };
    const { maxOutputTokens } = this.#options.limits;
    if (text === '') {
      throw new ModelTrouble('model_invalid_answer', `the model used up its ${maxOutputTokens} tokens without an answer`);
    }
    const note = `\n\n[cut off after ${usage.outputTokens} tokens]`;
    emitText(note);
    return { kind: 'reply', ...step, text: step.text + note, truncated: true };
  }

  #failed({ code, message }: ModelTrouble): StepOutcome {
    // A provider's message may contain anything: it is cut before and after it is scrubbed.
    return { kind: 'failed', code, message: this.#options.scrub(message.slice(0, 10_000)).slice(0, 1_000).toWellFormed() };
  }
}

const noBias = new ModelTrouble('setting_unsupported', 'logit_bias: this provider has no such setting; leave it out');

/** What providers answer to a file that they do not take. The rest of the message is answered all the same. */
const mayBeFiles: ReadonlySet<string> = new Set(['model_bad_request', 'model_unknown']);
const hasFiles = ({ messages }: ModelRequest): boolean =>
  messages.some((message) => message.role === 'user' && message.files !== undefined);

/** Doubled with each retry. */
const retries = { firstMs: 500, mostMs: 60_000 };
