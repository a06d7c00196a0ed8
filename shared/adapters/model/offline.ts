import type { ModelMessage, ModelRequest } from '../../domain/prompt/model-request.ts';
import { withoutSubAgentIds } from '../../domain/prompt/sub-agent-message.ts';
import { greeting } from '../../domain/routing/chat-answer.ts';
import type { RequestedCall, StepOutcome } from '../../domain/values/types.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Model } from '../../ports/model.ts';
import { offlineIntrospection } from './offline-introspection.ts';
import { asksMemory, remembered } from './offline-memory.ts';
import { type Script, scriptOf } from './offline-script.ts';
import { estimateUsage } from './usage.ts';

/**
 * The built-in model: no key, no network, the same answer to the same message (`docs/use/offline-model.md`). It answers `You
 * said: …`; words in double brackets make it behave like a real model: call tools, take time, answer at length or not at all,
 * fail.
 */
export class OfflineModel implements Model {
  readonly name = 'offline';
  readonly windowTokens: number;
  readonly #clock: Clock;
  /** What is still to be said below the first answer to a plain message. */
  #introduction: string;

  /** `introduction` is added to the first plain answer of this object; default: nothing is. */
  constructor(clock: Clock, windowTokens = 128_000, introduction = '') {
    this.#clock = clock;
    this.windowTokens = windowTokens;
    this.#introduction = introduction;
  }

  async step(request: ModelRequest, onText: (text: string) => void, signal: AbortSignal): Promise<StepOutcome> {
    if (request.purpose === 'compaction') return said(request, summaryOf(request.prompt));
    if (request.purpose === 'flush') return flush(request);
    if (request.purpose === 'introspection') return said(request, offlineIntrospection(request.prompt));
    const script = scriptOf(request.prompt);
    if (isPlain(script) && asksMemory(request.prompt)) return said(request, remembered(request.system));
    const outcome = isPlain(script) ? this.#plainAnswer(script, request.prompt) : outcomeOf(script, request);
    const pieces = outcome.kind === 'failed' ? [] : (outcome.text.match(/\S+\s*/g) ?? []);
    for (const piece of pieces.slice(0, 256)) {
      if (script.thinkMs > 0) await this.#clock.sleep(script.thinkMs / Math.min(pieces.length, 256), signal);
      if (signal.aborted) break;
      onText(piece);
    }
    return outcome;
  }

  /** A plain message can be answered from itself alone; one that asks for time, steps or tools runs through the recorded loop. */
  instantly({ prompt }: Pick<ModelRequest, 'prompt'>): StepOutcome | null {
    const script = scriptOf(prompt);
    return isPlain(script) && !asksMemory(prompt) ? this.#plainAnswer(script, prompt) : null;
  }

  #plainAnswer(script: Script, prompt: string): StepOutcome {
    const introduction = this.#introduction;
    const outcome = plainAnswer(script, prompt);
    if (introduction === '' || prompt === greeting || outcome.kind === 'failed' || script.silent) return outcome;
    this.#introduction = '';
    return { ...outcome, text: `${outcome.text}\n\n${introduction}` };
  }
}

/** What it is, and how to get a real one. `command` is how the user calls `natter`. */
export const offlineIntroduction = (command: string): string =>
  `I am the offline model: I need no key, and only repeat what you say. For a real one: ${command} init`;

const isPlain = ({ thinkMs, steps, calls }: Script): boolean => thinkMs === 0 && steps === 1 && calls.length === 0;

/** Ignores the conversation before the message. */
const plainAnswer = (script: Script, prompt: string): StepOutcome =>
  lastStep(script, { system: '', messages: [{ role: 'user', text: prompt }], tools: [] }, []);

/** The calls come first, the answer last; `[[steps 5]]` adds steps in between. */
const outcomeOf = (script: Script, request: ModelRequest): StepOutcome => {
  const { done, results } = progressOf(request);
  const total = Math.max(script.steps, script.calls.length + 1);
  if (done + 1 >= total) return lastStep(script, request, results.slice(-script.calls.flat().length));
  const calls = script.calls[done];
  return { ...said(request, `step ${done + 1} of ${total}`), kind: 'continue', ...(calls && { calls: [...calls] }) };
};

/** The progress of the answer to a message: steps done so far, and results of their calls. */
interface Progress {
  readonly done: number;
  readonly results: readonly ToolMessage[];
}
type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;

/**
 * Read from the conversation, since other steps may have come in between; if the message is no longer in it, from the step
 * number.
 */
const progressOf = ({ messages, prompt, step }: ModelRequest): Progress => {
  // Of several messages answered together this finds the last one.
  const asked = messages.findLastIndex(
    ({ role, text }) => role === 'user' && (text === prompt || prompt.endsWith(`\n\n${text}`)),
  );
  const since = messages.slice(asked + 1);
  const done = since.filter(({ role, text }) => role === 'assistant' && /^step \d+ of \d+$/.test(text)).length;
  return { done: asked === -1 ? step - 1 : done, results: since.filter((message) => message.role === 'tool') };
};

type Read = Parameters<typeof estimateUsage>[0];
const lastStep = (script: Script, read: Read, results: readonly ToolMessage[]): StepOutcome =>
  script.fail === null
    ? {
        ...said(read, answerOf(script, script.calls.length === 0 ? [] : results)),
        ...(script.reason && { reasoning: [{ text: `I was asked: ${script.text}` }] }),
      }
    : { kind: 'failed', code: script.fail, message: 'the message asked the offline model to fail' };

const said = (read: Read, text: string) => ({ kind: 'reply', text, model: 'offline', usage: estimateUsage(read, text) }) as const;

const answerOf = ({ text, size, silent }: Script, results: readonly ToolMessage[]): string => {
  if (text === greeting) return 'Hello! This session begins anew. What can I do for you?';
  if (silent) return '<NO_REPLY>';
  if (size !== null) return 'natter '.repeat(Math.ceil(size / 7)).slice(0, size);
  const lines = results.map(({ tool, outcome, text: result }) => {
    const shown = outcome === 'ok' ? result : `${outcome}: ${result}`;
    return `\n${tool} → ${shown.slice(0, 200)}`;
  });
  const heard = withoutSubAgentIds(text);
  return `${heard === text ? 'You said' : 'From the sub-agent'}: ${heard}${lines.join('')}`;
};

/** Summarises a conversation given as one text: its length, its beginning and its end. */
const summaryOf = (prompt: string): string => {
  const told = /<conversation>\n(.*)\n<\/conversation>/s.exec(prompt)?.[1] ?? prompt;
  const parts = told.split('\n\n');
  return `Summary of ${parts.length} messages: ${parts[0]?.slice(0, 200)} … ${parts.at(-1)?.slice(0, 200)}`;
};

const notes = 'memory/notes.md';

/** Before a compaction: writes one note with the file or memory tool, if there is one, and then stays silent. */
const flush = (request: ModelRequest): StepOutcome => {
  const { messages, tools } = request;
  const content = `${messages.length} messages so far.\n`;
  const tool = ['write_file', 'memory_add'].find((wanted) => tools.some(({ name }) => name === wanted));
  if (messages.at(-1)?.role === 'tool' || tool === undefined) return said(request, '<NO_REPLY>');
  const given = tool === 'write_file' ? { path: notes, content } : { text: content };
  const call: RequestedCall = { tool, arguments: JSON.stringify(given) };
  return { ...said(request, ''), kind: 'continue', calls: [call] };
};
