import type { LiveText } from '../../../shared/client/main.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { withoutSilence } from '../../../shared/domain/values/silence.ts';
import type { Terminal } from '../terminal.ts';

/** The output of a view. */
export type Screen = Pick<Terminal, 'out' | 'write'>;

/** Shows the text of one turn: live text as it comes, then what the recorded answer adds. */
export class RunView {
  readonly #screen: Screen;
  /** The turn waits for an approval or for another turn. */
  isWaiting = false;
  #step = 1;
  #shown = '';
  /** Offset in the step's text at which the next piece must begin. */
  #position = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Live text may be lost, repeated or from a failed attempt: only what continues the shown text is shown. */
  delta({ step, offset, end, text }: LiveText): void {
    if (step !== this.#step) this.#turnTo(step);
    if (offset !== this.#position) return;
    this.#screen.write(text);
    this.#shown += text;
    this.#position = end;
  }

  answer(text: string): void {
    this.#screen.write(`${this.#restOf(withoutSilence(text))}\n`);
    this.#shown = '';
  }

  /** Makes the next output start on a new line. */
  endLine(): void {
    if (this.#shown !== '') this.#screen.write('\n');
    this.#shown = '';
  }

  #turnTo(step: number): void {
    this.endLine();
    this.#position = 0;
    this.#step = step;
  }

  /** The part of the answer that is not shown yet. White space beside a silence marker may be shown but not be in the answer. */
  #restOf(answer: string): string {
    if (answer.trim() === '') return '(no reply)';
    const shown = [this.#shown, this.#shown.trim()].find((text) => answer.startsWith(text));
    return shown === undefined ? `\n${answer}` : answer.slice(shown.length);
  }
}

/** The turns that an event ends without an answer, and how. */
export const endedBy = (event: SessionEvent): { readonly turnIds: readonly string[]; readonly how: string } | null => {
  switch (event.type) {
    case 'turn_failed':
      return { turnIds: [event.turn.id], how: `failed: ${event.code}: ${event.message}` };
    case 'turn_aborted':
      return { turnIds: [event.turn.id], how: `stopped: ${event.reason}` };
    case 'turn_completed':
      return { turnIds: [event.turn.id], how: '(no reply)' };
    case 'queue_cleared':
      return { turnIds: event.turnIds, how: `removed from the queue: ${event.reason}` };
    case 'session_deleted':
      return { turnIds: event.turnIds, how: `the session was deleted: ${event.reason}` };
    case 'message_refused':
      return { turnIds: event.turnId === undefined ? [] : [event.turnId], how: `refused: ${event.code}` };
    default:
      return null;
  }
};
