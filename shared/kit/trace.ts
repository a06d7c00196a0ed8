import {
  type Attributes,
  type Context,
  context,
  type Link,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { NatterError } from './errors.ts';
import { contextOf, traceparentOf } from './traceparent.ts';

/**
 * The only access to spans (`docs/operate/observability.md`). Without a started SDK there are none, and the check costs some
 * nanoseconds. Attributes never contain messages, a call's arguments, session keys or secrets.
 */

/** How the work ended. `failure` is the code of an expected failure. */
export interface SpanEnd {
  readonly attributes?: Attributes;
  readonly failure?: string | undefined;
}

/** A piece of work and how its span describes it. */
export interface SpanDescription<T> {
  readonly name: string;
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /**
   * The `traceparent` of the cause, for work that was handed over. If the active span belongs to another trace, it becomes a
   * link. `null`: the cause is unknown and a new trace starts. Default: the active span.
   */
  readonly parent?: string | null | undefined;
  /** Attributes and failure from the result. Of a rejection only its code is recorded. */
  ended?(result: T): SpanEnd;
}

/** Runs the work within a span if tracing is on; `describe` is only called then. Resolves and rejects as the work does. */
export const traced = <T>(describe: () => SpanDescription<T>, work: () => Promise<T>): Promise<T> => {
  const tracer = tracerNow();
  return tracer === undefined ? work() : inSpan(tracer, describe(), work);
};

/** The `traceparent` of the active span, for a message about it; `undefined` without tracing. */
export const traceparentNow = (): string | undefined =>
  tracerNow() === undefined ? undefined : traceparentOf(trace.getActiveSpan()?.spanContext());

/** The trace id of the active span, for a log line. */
export const traceIdNow = (): string | undefined =>
  tracerNow() === undefined ? undefined : trace.getActiveSpan()?.spanContext().traceId;

/** Starts a span for work that is not one function call; `null` without tracing. */
export const beginSpan = (describe: () => SpanDescription<unknown>): OpenSpan | null => {
  const tracer = tracerNow();
  if (tracer === undefined) return null;
  const described = describe();
  const [span, within] = start(tracer, described);
  return {
    run: (work) => context.with(within, work),
    end: (ending) => {
      recordEnd(span, ending);
      span.end();
    },
  };
};
export interface OpenSpan {
  /** Runs a function within the span. */
  run<T>(work: () => T): T;
  end(ending: SpanEnd): void;
}

/** True once an SDK has been started. Guards work that only spans need. */
export const isTracing = (): boolean => tracerNow() !== undefined;

const tracerName = 'natter';
/** `undefined` without an SDK: the API's no-op tracers are not worth a span object. */
const tracerNow = (): Tracer | undefined => {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider ? provider.getDelegateTracer(tracerName) : provider.getTracer(tracerName);
};

const inSpan = async <T>(tracer: Tracer, described: SpanDescription<T>, work: () => Promise<T>): Promise<T> => {
  const [span, within] = start(tracer, described);
  try {
    const result = await context.with(within, work);
    if (described.ended) recordEnd(span, described.ended(result));
    return result;
  } catch (error) {
    recordEnd(span, { failure: codeOf(error) });
    throw error;
  } finally {
    span.end();
  }
};

const start = (tracer: Tracer, { name, kind, attributes, parent }: Omit<SpanDescription<never>, 'ended'>): [Span, Context] => {
  const now = context.active();
  const from = parent === undefined ? now : contextOf(parent, ROOT_CONTEXT);
  const span = tracer.startSpan(
    name,
    { kind: kind ?? SpanKind.INTERNAL, ...(attributes && { attributes }), links: linksBetween(from, now) },
    from,
  );
  return [span, trace.setSpan(from, span)];
};

const linksBetween = (from: Context, now: Context): Link[] => {
  const active = trace.getSpanContext(now);
  return active === undefined || active.traceId === trace.getSpanContext(from)?.traceId ? [] : [{ context: active }];
};

const recordEnd = (span: Span, { attributes, failure }: SpanEnd): void => {
  if (attributes) span.setAttributes(attributes);
  if (failure === undefined) return;
  span.setAttribute('error.type', failure);
  span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
};

/** The error code, never the message, which may quote anything. */
const codeOf = (error: unknown): string =>
  error instanceof NatterError ? error.code : error instanceof Error ? error.name : 'unknown';
