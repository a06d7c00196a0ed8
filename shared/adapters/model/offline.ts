import type { Clock, Model, ModelMessage, ModelRequest } from '../../ports.ts';
import type { RequestedCall, StepOutcome } from '../../session/types.ts';
import { type Script, scriptOf } from './offline-script.ts';
import { estimateUsage } from './usage.ts';

/**
 * The built-in model: no key, no network, the same answer to the same message (`docs/offline-model.md`). It answers `You said: …`; words
 * in double brackets make it behave like a real one: it calls tools, takes its time, says much or nothing, fails.
 */
export class OfflineModel implements Model {
  readonly name = 'offline';
  readonly windowTokens: number;
  readonly #clock: Clock;

  constructor(clock: Clock, windowTokens = 128_000) {
    this.#clock = clock;
    this.windowTokens = windowTokens;
  }

  async step(request: ModelRequest, onText: (text: string) => void, signal: AbortSignal): Promise<StepOutcome> {
    if (request.purpose === 'compaction') return said(request.prompt, summaryOf(request.messages));
    if (request.purpose === 'flush') return flush(request);
    const script = scriptOf(request.prompt);
    const outcome = outcomeOf(script, request, progressOf(request));
    const pieces = outcome.kind === 'failed' ? [] : (outcome.text.match(/\S+\s*/g) ?? []);
    for (const piece of pieces.slice(0, 256)) {
      if (script.thinkMs > 0) await this.#clock.sleep(script.thinkMs / Math.min(pieces.length, 256), signal);
      if (signal.aborted) break;
      onText(piece);
    }
    return outcome;
  }

  /** A plain message is answered from itself alone; one that asks for time, steps or tools goes through the recorded loop. */
  instantly(request: Pick<ModelRequest, 'prompt' | 'step'>): StepOutcome | null {
    const script = scriptOf(request.prompt);
    const plain = script.thinkMs === 0 && script.steps === 1 && script.calls.length === 0;
    return plain ? outcomeOf(script, request, { done: request.step - 1, results: [] }) : null;
  }
}

/** How far the model is with a message: steps it has taken, and what its calls gave. */
interface Progress {
  readonly done: number;
  readonly results: readonly ToolMessage[];
}
type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;

/** The conversation tells, for other steps may have come between; where it has no such message any more, the number of the step. */
const progressOf = ({ messages, prompt, step }: ModelRequest): Progress => {
  const asked = messages.findLastIndex(({ role, text }) => role === 'user' && text === prompt);
  const since = messages.slice(asked + 1);
  const done = since.filter(({ role, text }) => role === 'assistant' && /^step \d+ of \d+$/.test(text)).length;
  return { done: asked === -1 ? step - 1 : done, results: since.filter((message) => message.role === 'tool') };
};

/** The calls come first, the answer last; `[[steps 5]]` fills up in between. */
const outcomeOf = (script: Script, { prompt }: Pick<ModelRequest, 'prompt'>, { done, results }: Progress): StepOutcome => {
  const total = Math.max(script.steps, script.calls.length + 1);
  const calls = script.calls[done];
  if (done + 1 < total)
    return { ...said(prompt, `step ${done + 1} of ${total}`), kind: 'continue', ...(calls && { calls: [...calls] }) };
  if (script.fail !== null) return { kind: 'failed', code: script.fail, message: 'the message asked the offline model to fail' };
  return said(prompt, answerOf(script, results.slice(Math.max(0, results.length - script.calls.flat().length))));
};

const said = (prompt: string, text: string) =>
  ({ kind: 'reply', text, model: 'offline', usage: estimateUsage(prompt, text) }) as const;

const answerOf = ({ text, size, silent }: Script, results: readonly ToolMessage[]): string => {
  if (silent) return '<NO_REPLY>';
  if (size !== null) return 'natter '.repeat(Math.ceil(size / 7)).slice(0, size);
  const lines = results.map(({ tool, outcome, text: result }) => {
    const shown = outcome === 'ok' ? result : `${outcome}: ${result}`;
    return `\n${tool} → ${shown.slice(0, 200)}`;
  });
  return `You said: ${text}${lines.join('')}`;
};

const summaryOf = (messages: readonly ModelMessage[]): string => {
  const [first, last] = [messages[0], messages.at(-1)].map((message) => message?.text.slice(0, 200) ?? '');
  return `Summary of ${messages.length} messages: ${first} … ${last}`;
};

const notes = 'memory/notes.md';

/** Before a compaction: one note, where there is a tool to write it with, and then nothing. */
const flush = ({ prompt, messages, tools }: ModelRequest): StepOutcome => {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const written = last?.role === 'assistant' && last.calls?.some((call) => call.arguments.includes(notes));
  if (written || !tools.some(({ name }) => name === 'write_file')) return said(prompt, '<NO_REPLY>');
  const content = `${messages.length} messages so far.\n`;
  const call: RequestedCall = { tool: 'write_file', arguments: JSON.stringify({ path: notes, content }) };
  return { ...said(prompt, ''), kind: 'continue', calls: [call] };
};
