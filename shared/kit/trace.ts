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
 * The one way to spans (`docs/operate/observability.md`). Without an SDK that somebody has started there are none, and asking costs some
 * nanoseconds. Attributes never hold what was said, a call's arguments, a session's key or a secret.
 */

/** How a piece of work ended. `failure` is the code of a failure that is no error of the program. */
export interface Ending {
  readonly attributes?: Attributes;
  readonly failure?: string | undefined;
}

/** A piece of work as a span tells of it. */
export interface Spanned<T> {
  readonly name: string;
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /**
   * The `traceparent` of what led to it, for work that was handed over. What runs now, if it is of another trace, becomes a link. `null`:
   * nobody knows, a new trace begins. Default: what runs now.
   */
  readonly parent?: string | null | undefined;
  /** What the result says. A rejection is told by its code alone. */
  ended?(result: T): Ending;
}

/** Does the work, as a span if there is tracing: `describe` is called only then. Resolves and rejects as the work does. */
export const traced = <T>(describe: () => Spanned<T>, work: () => Promise<T>): Promise<T> => {
  const tracer = tracerNow();
  return tracer === undefined ? work() : inSpan(tracer, describe(), work);
};

/** The `traceparent` of what runs now, for a message about it; `undefined` without tracing. */
export const traceparentNow = (): string | undefined =>
  tracerNow() === undefined ? undefined : traceparentOf(trace.getActiveSpan()?.spanContext());

/** The trace of what runs now, for a line in the log. */
export const traceIdNow = (): string | undefined =>
  tracerNow() === undefined ? undefined : trace.getActiveSpan()?.spanContext().traceId;

/** Begins a span of work that no one function surrounds; `null` without tracing. */
export const beginSpan = (describe: () => Spanned<unknown>): OpenSpan | null => {
  const tracer = tracerNow();
  if (tracer === undefined) return null;
  const described = describe();
  const [span, within] = start(tracer, described);
  return {
    run: (work) => context.with(within, work),
    end: (ending) => {
      tell(span, ending);
      span.end();
    },
  };
};
export interface OpenSpan {
  /** Runs something as a part of it. */
  run<T>(work: () => T): T;
  end(ending: Ending): void;
}

/** True once somebody has started an SDK: only then is it worth to look for something that spans alone need. */
export const isTracing = (): boolean => tracerNow() !== undefined;

const tracerName = 'natter';
/** The API hands out tracers that do nothing too; those are not worth a span object. */
const tracerNow = (): Tracer | undefined => {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider ? provider.getDelegateTracer(tracerName) : provider.getTracer(tracerName);
};

const inSpan = async <T>(tracer: Tracer, described: Spanned<T>, work: () => Promise<T>): Promise<T> => {
  const [span, within] = start(tracer, described);
  try {
    const result = await context.with(within, work);
    if (described.ended) tell(span, described.ended(result));
    return result;
  } catch (error) {
    tell(span, { failure: codeOf(error) });
    throw error;
  } finally {
    span.end();
  }
};

const start = (tracer: Tracer, { name, kind, attributes, parent }: Omit<Spanned<never>, 'ended'>): [Span, Context] => {
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

const tell = (span: Span, { attributes, failure }: Ending): void => {
  if (attributes) span.setAttributes(attributes);
  if (failure === undefined) return;
  span.setAttribute('error.type', failure);
  span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
};

/** Never the message of an error: it may quote anything. */
const codeOf = (error: unknown): string =>
  error instanceof NatterError ? error.code : error instanceof Error ? error.name : 'unknown';
