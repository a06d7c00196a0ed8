import { Counter, Histogram, Registry } from 'prom-client';
import type { Usage } from '../../shared/domain/values/types.ts';
import { limits } from '../../shared/kit/limits.ts';
import { boundedLabel } from '../../shared/runtime/telemetry/labels.ts';

/** From an answer at once to the longest that a model or tool may take. */
const workSeconds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** What takes time or is counted by kind on a session host. Names of models, tools and codes are bounded (I11); no key is a label. */
export class SessionMeters {
  readonly series = new Registry();
  readonly #modelOf = boundedLabel(limits.metricLabels);
  readonly #toolOf = boundedLabel(limits.metricLabels);
  readonly #codeOf = boundedLabel(limits.metricLabels);
  readonly #turns = this.#counter('natter_turns_ended_total', 'Turns that have ended, by outcome and, failed, by code.', [
    'outcome',
    'code',
  ]);
  readonly #turnTime = this.#histogram(
    'natter_turn_duration_seconds',
    'Time from the start of a turn to its end, including the wait for approvals.',
    ['outcome'],
    [...workSeconds, 1_800, 3_600],
  );
  readonly #steps = this.#histogram('natter_model_step_duration_seconds', 'Time of one model step.', ['model', 'outcome']);
  readonly #tools = this.#histogram('natter_tool_call_duration_seconds', 'Time of one tool call.', ['tool', 'outcome']);
  readonly #commits = this.#histogram(
    'natter_commit_duration_seconds',
    'Time of one attempt to append a commit; "unknown" is a conflict, or no answer in time.',
    ['result'],
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  );
  readonly #tokens = this.#counter('natter_tokens_total', 'Tokens of the recorded model steps.', ['model', 'direction']);

  /** `seconds` where its beginning was seen here. */
  turnEnded(outcome: 'completed' | 'failed' | 'aborted', code: string, seconds?: number): void {
    this.#turns.inc({ outcome, code: this.#codeOf(code) });
    if (seconds !== undefined) this.#turnTime.observe({ outcome }, seconds);
  }
  stepTaken(model: string, outcome: string, seconds: number): void {
    this.#steps.observe({ model: this.#modelOf(model), outcome }, seconds);
  }
  toolRan(tool: string, outcome: string, seconds: number): void {
    this.#tools.observe({ tool: this.#toolOf(tool), outcome }, seconds);
  }
  committed(result: string, seconds: number): void {
    this.#commits.observe({ result }, seconds);
  }
  used(model: string, { inputTokens, outputTokens }: Usage): void {
    const label = this.#modelOf(model);
    this.#tokens.inc({ model: label, direction: 'input' }, inputTokens);
    this.#tokens.inc({ model: label, direction: 'output' }, outputTokens);
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.series] });
  }
  #histogram<L extends string>(name: string, help: string, labelNames: L[], buckets = workSeconds): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.series] });
  }
}
