import type { SessionKey } from '../keys/session-key.ts';
import type { ModelSettings } from '../values/client-request.ts';
import type { ReasoningPart } from '../values/reasoning.ts';
import type { ToolCall, ToolOutcome, TurnRef } from '../values/types.ts';

/** A file that came with a message. `content` is there when the model is asked. */
export interface ModelFile {
  readonly digest: string;
  /** Its media type. */
  readonly type: string;
  readonly bytes: number;
  readonly name?: string;
  readonly content?: Uint8Array;
}

/** The conversation as a model sees it. A `tool` message follows the assistant message that contains its call. */
export type ModelMessage =
  | {
      readonly role: 'user';
      readonly text: string;
      /** The sender. */
      readonly name?: string;
      readonly files?: readonly ModelFile[];
    }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly calls?: readonly ToolCall[];
      /** What its provider wants back with the calls. */
      readonly reasoning?: SignedReasoning | undefined;
    }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly tool: string;
      readonly outcome: ToolOutcome;
      readonly text: string;
    };

/** What a model thought before its calls; it means something to the provider of that model alone (`model`: `provider/model`). */
export interface SignedReasoning {
  readonly model: string;
  readonly parts: readonly ReasoningPart[];
}

/** A tool as it is described to a model. `parameters` is a JSON schema of an object. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly strict?: boolean | undefined;
}

export interface ModelRequest {
  readonly key: SessionKey;
  readonly turn: TurnRef;
  readonly step: number;
  readonly system: string;
  /** The conversation up to this step, within the context window. */
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  /** The text of the message that the turn answers. */
  readonly prompt: string;
  readonly thinkingLevel?: string;
  /** What the program that asks wants of this step. */
  readonly settings?: ModelSettings | undefined;
  /** The purpose of a step that does not answer: a summary, a memory flush, or introspection (A7/82). */
  readonly purpose?: 'compaction' | 'flush' | 'introspection';
}
