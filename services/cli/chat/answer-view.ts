import type { LiveText } from '../../../shared/client/main.ts';
import { withoutSilence } from '../../../shared/domain/values/silence.ts';
import { markdownBlocks, type RenderedBlock } from '../text/markdown.ts';
import type { Screen } from './screen.ts';

/** What an answer is shown on. */
export type AnswerScreen = Pick<Screen, 'width' | 'show' | 'soon' | 'flush'>;

/** Shows the answer of one turn as Markdown: its live text as it comes, then what the recorded answer adds. */
export class AnswerView {
  readonly #screen: AnswerScreen;
  #step = 1;
  /** The text of this step that was shown. */
  #shown = '';
  /** Offset in the step's text at which the next piece must begin. */
  #position = 0;
  /** The last block of the text, which may still change. */
  #pending = '';
  #hasPrinted = false;

  constructor(screen: AnswerScreen) {
    this.#screen = screen;
  }

  /** Live text may be lost, repeated or from a failed attempt: only what continues the shown text is shown. */
  delta({ step, offset, end, text }: LiveText): void {
    if (step < this.#step) return;
    if (step > this.#step) this.#beginStep(step);
    if (offset !== this.#position) return;
    this.#shown += text;
    this.#pending += text;
    this.#position = end;
    this.#screen.soon(() => this.#show());
  }

  /** The recorded text of a step that others follow. */
  step(step: number, text: string): void {
    if (step < this.#step) return;
    if (step > this.#step) this.#beginStep(step);
    this.#complete(text);
    this.#beginStep(step + 1);
  }

  answer(text: string): void {
    this.#complete(withoutSilence(text).trim() === '' ? '(no reply)' : text);
    this.end();
  }

  #beginStep(step: number): void {
    this.end();
    this.#step = step;
  }

  /** White space beside a silence marker may be shown but not be in the answer. */
  #complete(recorded: string): void {
    const text = withoutSilence(recorded);
    const shown = [this.#shown, this.#shown.trim()].find((each) => text.startsWith(each));
    this.#pending = shown === undefined ? text : this.#pending + text.slice(shown.length);
  }

  /** Makes what is pending final: the next output is of another step or turn. */
  end(): void {
    this.#screen.flush();
    if (this.#pending !== '') this.#screen.show(this.#linesOf(markdownBlocks(this.#pending, this.#screen.width)), []);
    [this.#pending, this.#shown, this.#position, this.#hasPrinted] = ['', '', 0, false];
  }

  /** Only the last block may still change. */
  #show(): void {
    const blocks = markdownBlocks(this.#pending, this.#screen.width);
    const last = blocks.at(-1);
    if (last === undefined) return;
    this.#pending = this.#pending.slice(blocks.length > 1 ? last.start : 0);
    const done = this.#linesOf(blocks.slice(0, -1));
    this.#screen.show(done, this.#hasPrinted ? ['', ...last.lines] : last.lines);
  }

  /** An empty line separates blocks. */
  #linesOf(blocks: readonly RenderedBlock[]): string[] {
    return blocks.flatMap(({ lines }) => {
      const spaced = this.#hasPrinted ? ['', ...lines] : lines;
      this.#hasPrinted = true;
      return spaced;
    });
  }
}
