import type { Run, TrackedRun } from '../../../shared/domain/projections/run.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { withoutSilence } from '../../../shared/domain/values/silence.ts';
import type { ToolCall } from '../../../shared/domain/values/types.ts';

/** Tokens of a run: the sum of its recorded model steps. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly total: number;
}

/** What the model thought in one step. */
export interface StepThoughts {
  readonly step: number;
  readonly text: string;
}

/** Separates the texts of two steps. */
export const between = '\n\n';

/**
 * The text of a run so far, from the log: the visible texts of its model steps, including those before and between tool calls, which a
 * streaming client has seen. With one step it is the run's reply. It ends early with calls of the program's own tools.
 */
export class Answer {
  readonly #runId: string;
  readonly #texts: string[] = [];
  readonly #refusals: string[] = [];
  #tokens: Tokens = { input: 0, output: 0, total: 0 };
  #run: Run | null = null;
  #turnId: string;
  #at: number | null = null;
  #isWhole = false;
  #step = 0;
  #calls = new Map<string, ToolCall>();
  #handedOver: readonly ToolCall[] = [];
  #isTruncated = false;
  #showsReasoning = false;
  #thoughts: StepThoughts[] = [];

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
  /** When the log first mentions the run, ms. */
  get at(): number | null {
    return this.#at;
  }
  /** The calls that are the program's to run: the answer ends with them. */
  get calls(): readonly ToolCall[] {
    return this.#handedOver;
  }
  /** The last step ended at the limit of its output tokens. */
  get isTruncated(): boolean {
    return this.#isTruncated;
  }
  /** What the model thought in each step, as far as it is recorded, if whoever asked wants to see it. */
  get thoughts(): readonly StepThoughts[] {
    return this.#showsReasoning ? this.#thoughts : [];
  }
  /** The run's message, or the results that began it, were among the commits, so nothing is missing. */
  get isWhole(): boolean {
    return this.#isWhole;
  }
  /** The last recorded step. Live text of a step after the next one has overtaken the record. */
  get step(): number {
    return this.#step;
  }
  get tokens(): Tokens {
    return this.#tokens;
  }
  /** What the model said to refuse, which is no part of the text; `null`: it did not. */
  get refusal(): string | null {
    return this.#refusals.length > 0 ? this.#refusals.join(between) : null;
  }
  /** The run has failed because the provider held back what the model said; what it had said before is there. */
  get isFiltered(): boolean {
    return this.#run?.status === 'error' && this.#run.error.code === 'model_refused';
  }
  /** Without a text from a step it is Natter's own text, such as why there is no answer. */
  get text(): string {
    const reply = this.#run?.status === 'ok' ? this.#run.reply : null;
    return this.#texts.length > 0 || this.refusal !== null ? this.#texts.join(between) : (reply ?? '');
  }

  /** Takes the next commit and the run after it; calls `said` with each step's text and number. */
  take(commit: RecordedCommit, { run, turnId }: TrackedRun, said: (text: string, step: number) => void = () => {}): void {
    // What follows the results of the calls is another answer.
    if (this.#handedOver.length > 0) return;
    this.#run = run;
    this.#turnId = turnId;
    if (run !== null) this.#at ??= commit.at;
    for (const event of commit.events) {
      if (event.type === 'user_message' && event.turnId === this.#runId) {
        this.#isWhole = true;
        this.#showsReasoning = event.message.client?.showsReasoning === true;
      }
      if (event.type === 'client_results_received' && event.runId === this.#runId) {
        [this.#isWhole, this.#step] = [true, event.step - 1];
        this.#showsReasoning = event.client?.showsReasoning === true;
      }
      if (event.type === 'client_results_awaited' && event.turn.id === turnId) this.#handOver(event.calls);
      if (event.type !== 'model_step' || event.turn.id !== turnId) continue;
      this.#calls = new Map(event.calls?.map((call) => [call.callId, call]));
      this.#step = event.step;
      const { inputTokens, outputTokens, totalTokens } = event.usage;
      const { input, output, total } = this.#tokens;
      this.#tokens = { input: input + inputTokens, output: output + outputTokens, total: total + totalTokens };
      if (event.flush) continue;
      this.#isTruncated = event.truncated === true;
      const thought = (event.reasoning ?? []).flatMap((part) => (part.text === '' ? [] : [part.text]));
      if (thought.length > 0) this.#thoughts.push({ step: event.step, text: thought.join(between) });
      const text = withoutSilence(event.text);
      if (text !== '') (event.refused ? this.#refusals : this.#texts).push(text);
      said(event.refused ? '' : text, event.step);
    }
  }

  #handOver(callIds: readonly string[]): void {
    this.#handedOver = callIds.flatMap((callId) => this.#calls.get(callId) ?? []);
  }
}
