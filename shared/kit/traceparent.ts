import { type Context, isSpanContextValid, type SpanContext, trace } from '@opentelemetry/api';

/** The header and field that carry a trace between processes (W3C Trace Context, version 00). */

/** `undefined` without a valid span. */
export const traceparentOf = (span: SpanContext | undefined): string | undefined =>
  span === undefined || !isSpanContextValid(span)
    ? undefined
    : `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`;

/** The context that `traceparent` names, or `otherwise` if it is invalid: a bad header breaks nothing. */
export const contextOf = (traceparent: string | null, otherwise: Context): Context => {
  const [, traceId = '', spanId = '', flags = ''] =
    /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? '') ?? [];
  const span: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(span) ? trace.setSpanContext(otherwise, span) : otherwise;
};
