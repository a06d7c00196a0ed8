import type { RequestedCall } from '../../domain/values/types.ts';
import { limits } from '../../kit/limits.ts';

/** Instructions to the offline model in a message, as words in double brackets (`docs/use/offline-model.md`). */
export interface Script {
  /** The message without the bracketed words. */
  readonly text: string;
  readonly thinkMs: number;
  readonly steps: number;
  readonly size: number | null;
  readonly fail: string | null;
  readonly silent: boolean;
  /** The answer comes with what was thought before it. */
  readonly reason: boolean;
  /** Tool calls, step by step. */
  readonly calls: readonly (readonly RequestedCall[])[];
}

const bounds = { thinkMs: 600_000, steps: 32, size: 200_000, ends: 64 };

/** A bracketed word with its value, or the beginning of a call up to its arguments. */
const opening =
  /\[\[(?:(think|steps|size|fail|silent|reason|then)(?: ([A-Za-z0-9_-]{1,32}))?\]\]|tool ([\w.:-]{1,128})(?: |(?=\]\])))/g;

export const scriptOf = (prompt: string): Script => {
  const found = new Map<string, string>();
  const calls: RequestedCall[][] = [[]];
  let text = '';
  let at = 0;
  for (const { index, 0: whole, 1: word, 2: value = '', 3: tool } of prompt.matchAll(opening)) {
    // A bracketed word within a call's arguments is not ours.
    if (index < at) continue;
    const begin = index + whole.length;
    const end = tool === undefined ? begin : endOfArguments(prompt, begin);
    if (end === -1) continue;
    text += prompt.slice(at, index);
    at = tool === undefined ? begin : end + 2;
    if (tool !== undefined) calls.at(-1)?.push({ tool, arguments: argumentsIn(prompt.slice(begin, end)) });
    else if (word === 'then') calls.push([]);
    else if (word !== undefined) found.set(word, value);
  }
  const number = (name: string, least: number, most: number): number =>
    Math.min(most, Math.max(least, Number.parseInt(found.get(name) ?? '', 10) || least));
  return {
    text: (text + prompt.slice(at)).trim(),
    thinkMs: number('think', 0, bounds.thinkMs),
    steps: number('steps', 1, bounds.steps),
    size: found.has('size') ? number('size', 0, bounds.size) : null,
    fail: found.has('fail') ? found.get('fail') || 'offline_failure' : null,
    silent: found.has('silent'),
    reason: found.has('reason'),
    calls: calls
      .filter((step) => step.length > 0)
      .slice(0, bounds.steps)
      .map((step) => step.slice(0, limits.stepCalls)),
  };
};

/**
 * The `]]` that ends a call: the first with JSON before it, since JSON may contain `]]` too; else the first of all. -1: there is
 * none.
 */
const endOfArguments = (prompt: string, begin: number): number => {
  const first = prompt.indexOf(']]', begin);
  let end = first;
  for (let tries = 0; end !== -1 && tries < bounds.ends; tries++) {
    if (isJson(prompt.slice(begin, end))) return end;
    end = prompt.indexOf(']]', end + 1);
  }
  return first;
};
const isJson = (text: string): boolean => {
  if (text.trim() === '') return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
const argumentsIn = (text: string): string => text.trim().slice(0, limits.toolArgumentsCharacters) || '{}';
