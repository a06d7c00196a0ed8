import { SpanKind } from '@opentelemetry/api';
import type { SpanDescription } from '../../shared/kit/trace.ts';
import type { CustodyState, Outbound } from '../../shared/ports/custody-log.ts';

/** The span of an outgoing message, from the log to its final state, in the trace of its commit. */
export const deliverySpan = ({ id, kind, target, traceparent }: Outbound): SpanDescription<CustodyState | 'known' | 'left'> => ({
  name: `deliver ${target.channel}`,
  kind: SpanKind.PRODUCER,
  parent: traceparent ?? null,
  attributes: {
    'messaging.operation.name': 'deliver',
    'messaging.operation.type': 'send',
    'messaging.destination.name': target.channel,
    'messaging.message.id': id,
    'natter.outbound.kind': kind,
  },
  ended: (state) => ({
    attributes: { 'natter.outbound.state': state },
    failure: state === 'failed' || state === 'partial' || state === 'unknown' ? state : undefined,
  }),
});
