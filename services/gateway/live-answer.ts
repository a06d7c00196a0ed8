import { between } from './answer.ts';
import type { VisibleDelta } from './live-text.ts';

/**
 * What a client has been told of an answer, and what comes next. What was told cannot be taken back, so only a beginning of what will be
 * recorded is told: white space waits for what follows it, for at the end of an answer that had a silence marker there is none. Each method
 * returns the text to tell now. Where a new attempt at a step says something else than what was told, `isBroken`: nothing more can be told.
 */
export class LiveAnswer {
  /** Between what two steps say. */
  readonly #between: string;
  #told = '';
  /** Of the step in the making. */
  #toldOfStep = '';
  /** White space behind it. */
  #held = '';
  /** The attempt that the pieces are of, and what it said until it came as far as the one before it. */
  #attempt = '';
  #again: string | null = null;
  /** Up to where its text is known, in characters of the model's own text; -1: a piece is missing. */
  #end = 0;
  /** A marker was taken out of it: white space in front of what is recorded is gone then. */
  #isCut = false;
  /** The last step that is recorded. */
  #step = 0;
  #isBroken = false;

  constructor(separator = between) {
    this.#between = separator;
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** A piece of the step in the making. */
  live({ turn, step, offset, text, end }: VisibleDelta): string {
    if (step <= this.#step) return '';
    const attempt = `${turn.id} ${turn.attempt} ${step}`;
    if (attempt !== this.#attempt || (offset === 0 && this.#end > 0)) {
      [this.#attempt, this.#end, this.#held, this.#isCut] = [attempt, 0, '', false];
      this.#again = this.#toldOfStep === '' ? null : '';
    }
    if (offset !== this.#end) {
      this.#end = -1;
      return '';
    }
    this.#end = end;
    this.#isCut ||= end - offset !== text.length;
    return this.#add(text);
  }

  /** The step's text as it is recorded. */
  step(text: string, step: number): string {
    if (!text.startsWith(this.#toldOfStep)) this.#forgetSpace();
    const rest = text.startsWith(this.#toldOfStep) ? this.#tellOfStep(text.slice(this.#toldOfStep.length)) : this.#break();
    [this.#step, this.#toldOfStep, this.#held] = [Math.max(this.#step, step), '', ''];
    return rest;
  }

  /** All of the answer as it is recorded. */
  end(answer: string): string {
    return answer.startsWith(this.#told) ? this.#tell(answer.slice(this.#told.length)) : this.#break();
  }

  #add(text: string): string {
    if (this.#again === null) {
      const pending = this.#toldOfStep === '' ? this.#begun(this.#held + text) : this.#held + text;
      const seen = pending.trimEnd();
      this.#held = pending.slice(seen.length);
      return this.#tellOfStep(seen);
    }
    this.#again += text;
    const known = this.#begun(this.#again);
    if (known.length <= this.#toldOfStep.length) return '';
    if (!known.startsWith(this.#toldOfStep)) return this.#break();
    this.#again = null;
    return this.#add(known.slice(this.#toldOfStep.length));
  }

  /** A marker takes away white space in front of the text too, which was told by then where the marker is at its end. */
  #forgetSpace(): void {
    const known = this.#toldOfStep.trimStart();
    this.#told = this.#told.slice(0, this.#told.length - this.#toldOfStep.length) + known;
    this.#toldOfStep = known;
  }

  #begun(text: string): string {
    return this.#isCut ? text.trimStart() : text;
  }

  #tellOfStep(text: string): string {
    if (text === '') return '';
    const isNext = this.#toldOfStep === '' && this.#told !== '';
    this.#toldOfStep += text;
    return this.#tell(isNext ? this.#between + text : text);
  }

  #tell(text: string): string {
    if (this.#isBroken) return '';
    this.#told += text;
    return text;
  }

  #break(): string {
    this.#isBroken = true;
    return '';
  }
}
