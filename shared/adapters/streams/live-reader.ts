import { limits } from '../../kit/limits.ts';
import { Signal } from '../../kit/signal.ts';
import type { Delta } from '../../ports/live.ts';
import { isSameStep } from './running-steps.ts';

/**
 * Puts live text together for one reader: pieces as they come and whole texts that were asked for, in any order. What it hands out of a
 * step begins at its first character and has no gap and no repetition; a piece that would leave a gap makes it `ask` for the whole.
 */
export class LiveReader {
  readonly #ask: () => void;
  readonly #news = new Signal();
  /** Not read yet, one for each step. */
  #unread: Delta[] = [];
  #characters = 0;
  /** The step that is told now, and up to which character. */
  #step: Delta | null = null;
  #known = 0;
  /** Pieces since the last that fitted. */
  #misfits = 0;
  /** Turns that others came after. */
  #past: string[] = [];

  constructor(ask: () => void) {
    this.#ask = ask;
  }

  take(delta: Delta): void {
    if (this.#isPast(delta)) return;
    if (this.#step === null || !isSameStep(this.#step, delta)) this.#begin(delta);
    if (delta.offset > this.#known) return this.#miss();
    const text = delta.text.slice(this.#known - delta.offset);
    if (text === '') return;
    this.#keep({ ...delta, offset: this.#known, text });
    this.#known += text.length;
    this.#misfits = 0;
  }

  /** What is told, until the signal aborts or nobody reads on; then `end` is called. */
  async *read(signal: AbortSignal, end: () => void): AsyncGenerator<Delta, void, undefined> {
    try {
      while (true) {
        const next = this.#unread.shift();
        if (next !== undefined) {
          this.#characters -= next.text.length;
          yield next;
        } else if (signal.aborted) return;
        else await this.#news.wait(signal);
      }
    } finally {
      end();
    }
  }

  /** Late words of an attempt, a step or a turn that is over. */
  #isPast({ turn, step }: Delta): boolean {
    if (this.#past.includes(turn.id)) return true;
    const now = this.#step;
    if (now === null || now.turn.id !== turn.id) return false;
    return turn.attempt < now.turn.attempt || (turn.attempt === now.turn.attempt && step < now.step);
  }

  #begin(delta: Delta): void {
    if (this.#step !== null && this.#step.turn.id !== delta.turn.id) {
      this.#past = [...this.#past, this.#step.turn.id].slice(-limits.recentIds);
    }
    this.#step = delta;
    this.#known = 0;
    this.#misfits = 0;
  }

  /** Asks at the first misfit, the second, the fourth and so on: an answer may be on its way, and may be lost. */
  #miss(): void {
    this.#misfits++;
    if (Number.isInteger(Math.log2(this.#misfits))) this.#ask();
  }

  /** Text that follows what is unread joins it: a slow reader gets fewer and longer pieces. Beyond the limits the oldest is lost. */
  #keep(delta: Delta): void {
    const last = this.#unread.at(-1);
    if (last !== undefined && isSameStep(last, delta))
      this.#unread[this.#unread.length - 1] = { ...last, text: last.text + delta.text };
    else this.#unread.push(delta);
    this.#characters += delta.text.length;
    while (this.#unread.length > limits.streamFrames || this.#characters > limits.streamBytes) {
      this.#characters -= this.#unread.shift()?.text.length ?? 0;
    }
    this.#news.notify();
  }
}
