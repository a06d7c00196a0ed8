import type { Clock } from '../../../shared/kit/clock.ts';
import { traced, traceparentNow } from '../../../shared/kit/trace.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import type { Model } from '../../../shared/ports/model.ts';
import type { Tool, Tools } from '../../../shared/ports/tools.ts';
import type { RunTraces } from '../turn/run-traces.ts';
import { commitSpan, stepSpan, toolSpan } from '../turn/spans.ts';
import type { SessionMeters } from './meters.ts';

/** Wraps the log, the models and the tools of a host: each operation gets a span and a measured duration, and does the same as before. */

interface Instruments {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly meters: SessionMeters;
  readonly traces: RunTraces;
}

export const instrumented = (parts: Instruments) => {
  const tool = once((given: Tool) => instrumentedTool(given, parts));
  return {
    log: (events: EventLog) => instrumentedLog(events, parts),
    model: once((given: Model) => instrumentedModel(given, parts)),
    tools: (given: Tools): Tools => ({
      of: (scope) => given.of(scope).map(tool),
      problems: () => given.problems(),
      close: () => given.close(),
    }),
  };
};

const once = <T extends object>(make: (given: T) => T): ((given: T) => T) => {
  const made = new WeakMap<T, T>();
  return (given) => {
    const known = made.get(given) ?? make(given);
    made.set(given, known);
    return known;
  };
};

/** Each try to append is a span. The commit carries it, so that its turn, on any host, and its deliveries continue the trace. */
const instrumentedLog = (events: EventLog, { clock, meters, traces }: Instruments): EventLog => ({
  append: (commit, expectedSeq) =>
    traced(
      () => commitSpan(commit),
      async () => {
        const startedAt = clock.monotonic();
        const traceparent = traceparentNow();
        const carrying = traceparent === undefined ? commit : { ...commit, traceparent };
        traces.note(carrying);
        const result = await events.append(carrying, expectedSeq);
        meters.committed(result.kind, secondsSince(clock, startedAt));
        return result;
      },
    ),
  last: (key) => events.last(key),
  newest: (headline) => events.newest(headline),
  count: (key) => events.count(key),
  read: (key, options) => events.read(key, options),
  page: (options) => events.page(options),
  raw: (options) => events.raw(options),
  follow: (options) => events.follow(options),
  info: () => events.info(),
  view: (seq) => events.view(seq),
});

/** An aborted step ends at once, even if the model ignores the signal. */
const instrumentedModel = (model: Model, { clock, meters }: Instruments): Model => ({
  name: model.name,
  windowTokens: model.windowTokens,
  takes: (type) => model.takes?.(type) ?? false,
  step: (request, onText, signal) =>
    traced(
      () => stepSpan(model.name, request),
      () =>
        measured({
          work: model.step(request, onText, signal),
          ...{ signal, clock },
          report: (outcome, seconds) => meters.stepTaken(model.name, outcome?.kind ?? 'aborted', seconds),
        }),
    ),
  ...(model.instantly && { instantly: (request) => model.instantly?.(request) ?? null }),
});

/** An abandoned call ends at once, even if the tool ignores the signal. */
const instrumentedTool = (tool: Tool, { clock, meters }: Instruments): Tool => ({
  ...tool,
  run: (run, signal) =>
    traced(
      () => toolSpan(tool, run),
      () =>
        measured({
          work: tool.run(run, signal),
          ...{ signal, clock },
          report: (end, seconds) => meters.toolRan(tool.name, end?.outcome ?? 'aborted', seconds),
        }),
    ),
});

const secondsSince = (clock: Pick<Clock, 'monotonic'>, startedAt: number): number => (clock.monotonic() - startedAt) / 1_000;

interface Measured<T> {
  readonly work: Promise<T>;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Called at the end; without a result if the work was aborted or threw. */
  report(result: T | undefined, seconds: number): void;
}

/** Settles as the work does, but rejects with the signal's reason as soon as the signal aborts. */
const measured = async <T>({ work, signal, clock, report }: Measured<T>): Promise<T> => {
  const startedAt = clock.monotonic();
  let abort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
  let result: T | undefined;
  try {
    result = await Promise.race([work, aborted]);
    return result;
  } finally {
    signal.removeEventListener('abort', abort);
    report(result, secondsSince(clock, startedAt));
  }
};
