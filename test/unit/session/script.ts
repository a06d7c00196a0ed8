import type { ModelRequest } from '../../../shared/domain/prompt/model-request.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import type { StepOutcome } from '../../../shared/domain/values/types.ts';
import type { Model } from '../../../shared/ports/model.ts';
import { rowOf } from '../../support/domain/given.ts';

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

/** What a scripted model answers: a text, calls as `tool {"json": 1}`, or an outcome. */
export type Line = string | readonly string[] | StepOutcome;

export const outcomeOf = (line: Line): StepOutcome => {
  if (typeof line === 'string') return { kind: 'reply', text: line, model: 'script', usage };
  if (!Array.isArray(line)) return line as StepOutcome;
  const calls = (line as readonly string[]).map((call) => {
    const space = call.indexOf(' ');
    return space === -1 ? { tool: call, arguments: '{}' } : { tool: call.slice(0, space), arguments: call.slice(space + 1) };
  });
  return { kind: 'continue', text: '', model: 'script', usage, calls };
};

/** A model that answers with its lines in order, and notes what it was asked. */
export interface Script extends Model {
  readonly requests: ModelRequest[];
}
export const script = (lines: readonly Line[], change: Partial<Model> = {}): Script => {
  const requests: ModelRequest[] = [];
  const next = lines.values();
  return {
    name: 'script',
    windowTokens: 100_000,
    requests,
    step: async (request) => {
      requests.push(request);
      return outcomeOf(next.next().value ?? 'nothing more to say');
    },
    ...change,
  };
};

/** What the model had before it, as text: people in lower case, itself in capitals, results as `callId=outcome`. */
export const heardIn = ({ messages }: ModelRequest): string =>
  messages
    .map((message) => {
      if (message.role === 'user') return message.text;
      if (message.role === 'tool') return `${message.callId}=${message.outcome}`;
      return message.calls ? `[${message.calls.map(({ tool }) => tool).join(' ')}]` : message.text.toUpperCase();
    })
    .join(' ');

/** The rows of a turn, without those that every turn starts with. */
export const rowsOf = (events: readonly SessionEvent[]): string[] =>
  events.filter(({ type }) => !['session_opened', 'user_message', 'turn_started', 'prompt_changed'].includes(type)).map(rowOf);
