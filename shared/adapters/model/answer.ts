import type { ReasoningPart } from '../../domain/values/reasoning.ts';
import type { RequestedCall } from '../../domain/values/types.ts';
import { limits } from '../../kit/limits.ts';
import type { ProviderModel } from './prompt.ts';
import { ModelTrouble } from './trouble.ts';
import type { ReportedUsage } from './usage.ts';
import type { Watch } from './watch.ts';

type Part = Awaited<ReturnType<ProviderModel['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;
export interface Answer {
  readonly text: string;
  /** All of the text says that the model refuses. */
  readonly isRefusal: boolean;
  readonly calls: readonly RequestedCall[];
  readonly reasoning: readonly ReasoningPart[];
  readonly finish: { readonly usage: ReportedUsage; readonly finishReason: Extract<Part, { type: 'finish' }>['finishReason'] };
}

/** Reads up to the first `finish` part and ignores everything after it. Throws `ModelTrouble` if the answer is invalid. */
export const readAnswer = async (stream: ReadableStream<Part>, tell: (text: string) => void, watch: Watch): Promise<Answer> => {
  let text = '';
  let bytes = 0;
  const calls: RequestedCall[] = [];
  const thoughts = new Thoughts();
  const grow = (piece: string): void => {
    watch.progressed();
    bytes += Buffer.byteLength(piece);
    if (bytes > limits.modelOutputBytes) {
      throw new ModelTrouble('output_too_large', `the model answered more than ${limits.modelOutputBytes} bytes`);
    }
  };
  const say = (piece: string): void => {
    if (piece === '') return;
    grow(piece);
    text += piece;
    tell(piece);
  };
  // It is told once it is recorded: until then nobody could tell it from an answer.
  let refusal = '';
  const refuse = (piece: string): void => {
    if (piece !== '') grow(piece);
    refusal += piece;
  };
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'reasoning-delta') watch.progressed();
    thoughts.take(part);
    if (part.type === 'tool-input-delta') grow(part.delta);
    if (part.type === 'tool-call') calls.push(callOf(part.toolName, part.input, calls.length));
    if (part.type === 'text-delta') say(part.delta);
    if (part.type === 'raw') refuse(refusalIn(part.rawValue));
    if (part.type === 'finish') {
      const { unified, raw } = part.finishReason;
      if (unified === 'content-filter') throw new ModelTrouble('model_refused', `the provider stopped the answer: ${raw}`);
      const isRefusal = text === '' && refusal !== '';
      return { text: text + refusal, isRefusal, calls, reasoning: thoughts.parts, finish: part };
    }
  }
  throw new ModelTrouble('model_invalid_answer', 'the answer ended without a finish');
};

/** What a model of OpenAI's says instead of an answer. The SDK leaves it out, and the answer would be empty. */
const refusalIn = (chunk: unknown): string => {
  const said = (chunk as { choices?: { delta?: { refusal?: unknown } | null }[] } | null)?.choices?.[0]?.delta?.refusal;
  return typeof said === 'string' ? said : '';
};

/** What the model thinks, piece by piece; too much of it is not kept. */
class Thoughts {
  readonly #parts = new Map<string, ReasoningPart>();
  #bytes = 0;

  get parts(): readonly ReasoningPart[] {
    return this.#bytes > limits.reasoningBytes ? [] : [...this.#parts.values()];
  }

  take(part: Part): void {
    if (part.type !== 'reasoning-start' && part.type !== 'reasoning-delta' && part.type !== 'reasoning-end') return;
    const { signature, redactedData: redacted } = part.providerMetadata?.anthropic ?? {};
    const delta = part.type === 'reasoning-delta' ? part.delta : '';
    const { text, ...before } = this.#parts.get(part.id) ?? { text: '' };
    this.#bytes += Buffer.byteLength(delta) + String(signature ?? '').length + String(redacted ?? '').length;
    if (this.#bytes > limits.reasoningBytes) return;
    this.#parts.set(part.id, {
      ...{ text: text + delta, ...before },
      ...(typeof signature === 'string' && { signature }),
      ...(typeof redacted === 'string' && { redacted }),
    });
  }
}

/** Some models write nothing when a tool has no arguments. */
const callOf = (tool: string, written: string, before: number): RequestedCall => {
  if (before >= limits.stepCalls) {
    throw new ModelTrouble('output_too_large', `the model called more than ${limits.stepCalls} tools in one step`);
  }
  if (tool === '' || tool.length > limits.toolNameCharacters) {
    throw new ModelTrouble('model_invalid_answer', `the model called a tool with a name of ${tool.length} characters`);
  }
  if (written.length > limits.toolArgumentsCharacters) {
    throw new ModelTrouble('output_too_large', `the model called ${tool} with ${written.length} characters of arguments`);
  }
  return { tool: tool.toWellFormed(), arguments: written.trim() === '' ? '{}' : written.toWellFormed() };
};
