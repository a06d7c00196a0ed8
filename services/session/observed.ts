import type { Clock } from '../../shared/kit/clock.ts';
import { traced, traceparentNow } from '../../shared/kit/trace.ts';
import type { EventLog } from '../../shared/ports/event-log.ts';
import type { Model } from '../../shared/ports/model.ts';
import type { Tool, Tools } from '../../shared/ports/tools.ts';
import type { SessionMeters } from './meters.ts';
import type { RunTraces } from './run-traces.ts';
import { commitSpan, stepSpan, toolSpan } from './spans.ts';

/** The log, the models and the tools of a host, with a span and a measured time for each thing they do. They do the same as before. */

interface Observing {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly meters: SessionMeters;
  readonly traces: RunTraces;
}

export const observing = (parts: Observing) => {
  const tool = madeOnce((given: Tool) => observedTool(given, parts));
  return {
    log: (events: EventLog) => observedLog(events, parts),
    model: madeOnce((given: Model) => observedModel(given, parts)),
    tools: (given: Tools): Tools => ({
      of: (scope) => given.of(scope).map(tool),
      problems: () => given.problems(),
      close: () => given.close(),
    }),
  };
};

const madeOnce = <T extends object>(make: (given: T) => T): ((given: T) => T) => {
  const made = new WeakMap<T, T>();
  return (given) => {
    const known = made.get(given) ?? make(given);
    made.set(given, known);
    return known;
  };
};

/** Each try to append is a span, which the commit names for whoever reads it: its turn, on any host, and its deliveries. */
const observedLog = (events: EventLog, { clock, meters, traces }: Observing): EventLog => ({
  append: (commit, expectedSeq) =>
    traced(
      () => commitSpan(commit),
      async () => {
        const began = clock.monotonic();
        const traceparent = traceparentNow();
        const carrying = traceparent === undefined ? commit : { ...commit, traceparent };
        traces.note(carrying);
        const result = await events.append(carrying, expectedSeq);
        meters.committed(result.kind, secondsSince(clock, began));
        return result;
      },
    ),
  last: (key) => events.last(key),
  read: (key, options) => events.read(key, options),
  page: (options) => events.page(options),
  follow: (options) => events.follow(options),
  info: () => events.info(),
});

/** A step that is aborted ends at once, whatever its model does about it. */
const observedModel = (model: Model, { clock, meters }: Observing): Model => ({
  name: model.name,
  windowTokens: model.windowTokens,
  step: (request, onText, signal) =>
    traced(
      () => stepSpan(model.name, request),
      () =>
        measured({
          work: model.step(request, onText, signal),
          ...{ signal, clock },
          tell: (outcome, seconds) => meters.stepTaken(model.name, outcome?.kind ?? 'aborted', seconds),
        }),
    ),
  ...(model.instantly && { instantly: (request) => model.instantly?.(request) ?? null }),
});

/** A call that is given up ends at once, whatever its tool does about it. */
const observedTool = (tool: Tool, { clock, meters }: Observing): Tool => ({
  ...tool,
  run: (run, signal) =>
    traced(
      () => toolSpan(tool, run),
      () =>
        measured({
          work: tool.run(run, signal),
          ...{ signal, clock },
          tell: (end, seconds) => meters.toolRan(tool.name, end?.outcome ?? 'aborted', seconds),
        }),
    ),
});

const secondsSince = (clock: Pick<Clock, 'monotonic'>, began: number): number => (clock.monotonic() - began) / 1_000;

interface Measured<T> {
  readonly work: Promise<T>;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Without a result: it was aborted, or threw. */
  tell(result: T | undefined, seconds: number): void;
}

/** As the work, but rejects with the signal's reason as soon as it aborts. */
const measured = async <T>({ work, signal, clock, tell }: Measured<T>): Promise<T> => {
  const began = clock.monotonic();
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
    tell(result, secondsSince(clock, began));
  }
};
