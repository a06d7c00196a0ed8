import type { Run, TrackedRun } from '../../shared/domain/projections/run.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import { withoutSilence } from '../../shared/domain/values/silence.ts';

/** Tokens of a run: the sum of its recorded model steps. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly total: number;
}

/** Between what one step says and what the next one does. */
export const between = '\n\n';

/**
 * What a run has said so far, as the log has it: the texts of its model steps as people get to see them, those before and between calls of
 * tools included, for a client that reads along has seen them. Of a run of one step it is the run's reply.
 */
export class Answer {
  readonly #runId: string;
  readonly #texts: string[] = [];
  #tokens: Tokens = { input: 0, output: 0, total: 0 };
  #run: Run | null = null;
  #turnId: string;
  #at: number | null = null;
  #isWhole = false;
  #step = 0;

  constructor(runId: string) {
    this.#runId = runId;
    this.#turnId = runId;
  }

  get run(): Run | null {
    return this.#run;
  }
  /** The turn that carries the run. */
  get turnId(): string {
    return this.#turnId;
  }
  /** When the log first tells of it, ms. */
  get at(): number | null {
    return this.#at;
  }
  /** The message that asks for it was among the commits, so nothing of it is missing. */
  get isWhole(): boolean {
    return this.#isWhole;
  }
  /** The last step that is recorded: live text of one behind the next is here before what comes before it. */
  get step(): number {
    return this.#step;
  }
  get tokens(): Tokens {
    return this.#tokens;
  }
  /** Where no step says anything it is what Natter says, such as why there is nothing to say. */
  get text(): string {
    const reply = this.#run?.status === 'ok' ? this.#run.reply : null;
    return this.#texts.length > 0 ? this.#texts.join(between) : (reply ?? '');
  }

  /** Takes the next commit and the run after it; each text that a step says in it is passed on, with the number of the step. */
  take(commit: RecordedCommit, { run, turnId }: TrackedRun, said: (text: string, step: number) => void = () => {}): void {
    this.#run = run;
    this.#turnId = turnId;
    if (run !== null) this.#at ??= commit.at;
    for (const event of commit.events) {
      if (event.type === 'user_message' && event.turnId === this.#runId) this.#isWhole = true;
      if (event.type !== 'model_step' || event.turn.id !== turnId) continue;
      this.#step = event.step;
      const { inputTokens, outputTokens, totalTokens } = event.usage;
      const { input, output, total } = this.#tokens;
      this.#tokens = { input: input + inputTokens, output: output + outputTokens, total: total + totalTokens };
      if (event.flush) continue;
      const text = withoutSilence(event.text);
      if (text !== '') this.#texts.push(text);
      said(text, event.step);
    }
  }
}
