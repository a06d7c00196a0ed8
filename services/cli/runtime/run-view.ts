import type { LiveText } from '../../../shared/client/main.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { withoutSilence } from '../../../shared/domain/values/silence.ts';
import type { Terminal } from '../terminal.ts';

/** Where what is shown goes. */
export type Screen = Pick<Terminal, 'out' | 'write'>;

/** Shows the text of one turn: as it comes, and the recorded answer as the truth. */
export class RunView {
  readonly #screen: Screen;
  /** The turn waits: for a person's answer, or for another turn. */
  isWaiting = false;
  #step = 1;
  #shown = '';
  /** Where in the step's text the next piece has to begin. */
  #position = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Live text may be lost, come twice or belong to an attempt that failed: only what continues the shown text is shown. */
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

  /** What comes next begins on a line of its own. */
  endLine(): void {
    if (this.#shown !== '') this.#screen.write('\n');
    this.#shown = '';
  }

  #turnTo(step: number): void {
    this.endLine();
    this.#position = 0;
    this.#step = step;
  }

  /** What of the answer is not shown yet. White space beside a silence marker may be shown already and is not in the answer. */
  #restOf(answer: string): string {
    if (answer.trim() === '') return '(no reply)';
    const shown = [this.#shown, this.#shown.trim()].find((text) => answer.startsWith(text));
    return shown === undefined ? `\n${answer}` : answer.slice(shown.length);
  }
}

/** The turns that an event ends without an answer, and how, in words. */
export const endedBy = (event: SessionEvent): { readonly turnIds: readonly string[]; readonly how: string } | null => {
  switch (event.type) {
    case 'turn_failed':
      return { turnIds: [event.turn.id], how: `failed: ${event.code}: ${event.message}` };
    case 'turn_aborted':
      return { turnIds: [event.turn.id], how: `stopped: ${event.reason}` };
    case 'turn_completed':
      return { turnIds: [event.turn.id], how: '(no reply)' };
    case 'queue_cleared':
      return { turnIds: event.turnIds, how: `taken from the queue: ${event.reason}` };
    case 'session_deleted':
      return { turnIds: event.turnIds, how: `the session was deleted: ${event.reason}` };
    case 'message_refused':
      return { turnIds: event.turnId === undefined ? [] : [event.turnId], how: `refused: ${event.code}` };
    default:
      return null;
  }
};
