import type { EventOf } from '../session/events.ts';
import type { ToolCall } from '../values/types.ts';
import type { ModelMessage, SignedReasoning } from './model-request.ts';

/** A step with its calls, until each of them has a result. */
export interface CallBlock {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly reasoning: SignedReasoning | undefined;
  readonly results: Map<string, ModelMessage>;
  readonly begun: Set<string>;
}

export const openBlock = (text: string, calls: readonly ToolCall[], reasoning?: SignedReasoning): CallBlock => ({
  text,
  calls,
  reasoning,
  results: new Map(),
  begun: new Set(),
});

export const isComplete = ({ calls, results }: CallBlock): boolean => results.size >= calls.length;

/** The message for a tool result. Of a long output the model gets the first page and a note how to read the others. */
export const resultMessage = (
  { callId, tool, outcome, text, pages }: EventOf<'tool_result'>,
  copy: (text: string) => string,
): ModelMessage => ({
  role: 'tool',
  callId: copy(callId),
  tool: copy(tool),
  outcome,
  text: pages === undefined ? copy(text) : `${text}\n[Page 1 of ${pages}. read_output has the others, by call id ${callId}.]`,
});

/** The outcome of a call that has no result when its turn ends. */
export const cutOff = (isBegun: boolean) =>
  isBegun
    ? ({ outcome: 'unknown', text: 'Cut off: the turn ended first. It may have taken effect.' } as const)
    : ({ outcome: 'error', text: 'Cut off: the turn ended before this was run.' } as const);

/**
 * The messages of a block, with the results in the order of the calls. A call without a result was cut off when its turn ended.
 */
export const blockMessages = ({ text, calls, reasoning, results, begun }: CallBlock): ModelMessage[] => [
  { role: 'assistant', text, calls, ...(reasoning && { reasoning }) },
  ...calls.map(
    ({ callId, tool }): ModelMessage => results.get(callId) ?? { role: 'tool', callId, tool, ...cutOff(begun.has(callId)) },
  ),
];
