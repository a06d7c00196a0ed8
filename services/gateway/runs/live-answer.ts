import { between } from './answer.ts';
import type { VisibleDelta } from './live-text.ts';

/**
 * What a client has received of an answer, and what to send next. Nothing can be taken back, so only a prefix of the recorded text is sent:
 * white space is held until more follows, because a removed silence marker at the end removes it too. Each method returns the text to send
 * now. `isBroken`: a new attempt at a step differs from what was sent, so nothing more can be sent.
 */
export class LiveAnswer {
  /** Between the texts of two steps. */
  readonly #between: string;
  #told = '';
  /** Sent of the current step. */
  #toldOfStep = '';
  /** White space held back after it. */
  #held = '';
  /** The attempt that the pieces belong to, and its text until it has caught up with the attempt before it. */
  #attempt = '';
  #again: string | null = null;
  /** How far its text is known, in characters of the model's own text; -1: a piece is missing. */
  #end = 0;
  /** A marker was removed from it, and with it the leading white space of the recorded text. */
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

  /** Takes a piece of the current step. */
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

  /** Takes the recorded text of a step. */
  step(text: string, step: number): string {
    if (!text.startsWith(this.#toldOfStep)) this.#forgetSpace();
    const rest = text.startsWith(this.#toldOfStep) ? this.#tellOfStep(text.slice(this.#toldOfStep.length)) : this.#break();
    [this.#step, this.#toldOfStep, this.#held] = [Math.max(this.#step, step), '', ''];
    return rest;
  }

  /** Takes the recorded text of the whole answer. */
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

  /** A marker removes leading white space too, which was already sent if the marker comes at the end. */
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
