import { limits } from '../../kit/limits.ts';
import { Signal } from '../../kit/signal.ts';
import type { Delta } from '../../ports/live.ts';
import { isSameStep } from './running-steps.ts';

/**
 * Assembles live text for one reader, from pieces as they arrive and whole texts that were requested, in any order. Its output of
 * a step starts at the first character and has no gaps or repeats; a piece that would leave a gap makes it `ask` for the whole
 * text.
 */
export class LiveReader {
  readonly #ask: () => void;
  readonly #news = new Signal();
  /** Unread output, one entry per step. */
  #unread: Delta[] = [];
  #characters = 0;
  /** The current step, and its number of characters received. */
  #step: Delta | null = null;
  #known = 0;
  /** Pieces that did not fit since the last one that did. */
  #misfits = 0;
  /** Turns that others have followed. */
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

  /** Yields the text until the signal aborts or the reader stops; then calls `end`. */
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

  /** True for late pieces of an attempt, step or turn that has ended. */
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

  /** Asks at the first misfit, the second, the fourth and so on: an answer may be under way, or lost. */
  #miss(): void {
    this.#misfits++;
    if (Number.isInteger(Math.log2(this.#misfits))) this.#ask();
  }

  /**
   * Text that continues the unread piece is joined to it: a slow reader gets fewer and longer pieces. Beyond the limits the
   * oldest is dropped.
   */
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
