import type { Clock, Model, ModelRequest } from '../../ports.ts';
import type { StepOutcome } from '../../session/types.ts';
import { estimateUsage } from './estimate.ts';

/**
 * The built-in model: no key, no network, the same answer to the same message (`docs/offline-model.md`). It answers `You said: …`. Words in
 * double brackets make it behave like a real one: `[[think 500]]` takes that many milliseconds per step, `[[steps 3]]` takes that many
 * steps, `[[size 4000]]` answers with that many characters, `[[fail CODE]]` fails, `[[silent]]` answers nothing but `<NO_REPLY>`.
 */
interface Script {
  readonly text: string;
  readonly thinkMs: number;
  readonly steps: number;
  readonly size: number | null;
  readonly fail: string | null;
  readonly silent: boolean;
}

const directive = /\[\[(think|steps|size|fail|silent)(?: ([A-Za-z0-9_-]{1,32}))?\]\]/g;
const bounds = { thinkMs: 600_000, steps: 32, size: 200_000 };

const scriptOf = (prompt: string): Script => {
  const found = new Map<string, string>();
  const text = prompt.replaceAll(directive, (_, name: string, value: string | undefined) => {
    found.set(name, value ?? '');
    return '';
  });
  const number = (name: string, least: number, most: number): number =>
    Math.min(most, Math.max(least, Number.parseInt(found.get(name) ?? '', 10) || least));
  return {
    text: text.trim(),
    thinkMs: found.has('think') ? number('think', 0, bounds.thinkMs) : 0,
    steps: found.has('steps') ? number('steps', 1, bounds.steps) : 1,
    size: found.has('size') ? number('size', 0, bounds.size) : null,
    fail: found.has('fail') ? found.get('fail') || 'offline_failure' : null,
    silent: found.has('silent'),
  };
};

const answerOf = ({ text, size, silent }: Script): string => {
  if (silent) return '<NO_REPLY>';
  return size === null ? `You said: ${text}` : 'natter '.repeat(Math.ceil(size / 7)).slice(0, size);
};

const outcomeOf = (script: Script, step: number, prompt: string): StepOutcome => {
  if (script.fail !== null) return { kind: 'failed', code: script.fail, message: 'the message asked the offline model to fail' };
  const last = step >= script.steps;
  const text = last ? answerOf(script) : `step ${step} of ${script.steps}`;
  return { kind: last ? 'reply' : 'continue', text, model: 'offline', usage: estimateUsage(prompt, text) };
};

export class OfflineModel implements Model {
  readonly name = 'offline';
  readonly windowTokens = 128_000;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async step({ prompt, step }: ModelRequest, onText: (text: string) => void, signal: AbortSignal): Promise<StepOutcome> {
    const script = scriptOf(prompt);
    const outcome = outcomeOf(script, step, prompt);
    const pieces = outcome.kind === 'failed' ? [] : (outcome.text.match(/\S+\s*/g) ?? []);
    for (const piece of pieces.slice(0, 256)) {
      if (script.thinkMs > 0) await this.#clock.sleep(script.thinkMs / Math.min(pieces.length, 256), signal);
      if (signal.aborted) break;
      onText(piece);
    }
    return outcome;
  }

  /** A plain message is answered from itself alone; one that asks for time or steps goes through the recorded loop. */
  instantly({ prompt, step }: Pick<ModelRequest, 'prompt' | 'step'>): StepOutcome | null {
    const script = scriptOf(prompt);
    return script.thinkMs > 0 || script.steps > 1 ? null : outcomeOf(script, step, prompt);
  }
}
