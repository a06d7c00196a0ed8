import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { describe, expect, test } from 'vitest';
import { HealthProblem } from '../../../../shared/kit/health-problem.ts';
import { contextOf, traceparentOf } from '../../../../shared/kit/traceparent.ts';
import { boundedLabel } from '../../../../shared/runtime/telemetry/labels.ts';
import { labelled, metricsOf, pageOf } from '../../../../shared/runtime/telemetry/metrics.ts';
import { decodeCommand, encode } from '../../../../shared/wire/codec.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('W3C traceparent', () => {
  const spanOf = (header: string | null) => trace.getSpanContext(contextOf(header, ROOT_CONTEXT));

  test('what is written is read', () => {
    const header = traceparentOf({ traceId, spanId, traceFlags: 1 });
    expect(header).toBe(`00-${traceId}-${spanId}-01`);
    expect(spanOf(header ?? null)).toMatchObject({ traceId, spanId, traceFlags: 1, isRemote: true });
  });
  test.each([
    null,
    '',
    'x',
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-01\r\nevil: 1`,
  ])('%j names no trace', (header) => expect(spanOf(header)).toBeUndefined());
  test('a span that nobody could find again is not told of', () => {
    expect(traceparentOf(undefined)).toBeUndefined();
    expect(traceparentOf({ traceId: '0'.repeat(32), spanId, traceFlags: 1 })).toBeUndefined();
  });

  const command = {
    id: 'c',
    key: 'agent:main:main',
    at: 1,
    correlationId: 'c',
    causationId: 'c',
    actor: 'a',
    data: { type: 'resume_turn' },
  };
  test.each([`00-${traceId}-${spanId}-01\r\nevil: 1`, 'x'.repeat(5_000), 7, null])(
    'a message with %j for one is worth as much as one without',
    (traceparent) => {
      const decoded = decodeCommand(encode({ ...command, traceparent }));
      expect(decoded).toMatchObject(command);
      expect(decoded.traceparent).toBeUndefined();
    },
  );
});

test('labels from outside have a bound (I11)', () => {
  const labelOf = boundedLabel(2);
  expect(['a', 'b', 'c', 'a', 'd'].map(labelOf)).toEqual(['a', 'b', 'other', 'a', 'other']);
});

test('series of other processes stand beside ours, and what is the same is added up', async () => {
  const service = (count: number, problems: readonly HealthProblem[] = []) => ({
    ...{ name: 'session', problems: () => problems },
    metrics: () => ({ sessions_resident: count, commits_total: count }),
  });
  const wentBack = new HealthProblem('queue_went_back', 'NATTER_COMMANDS ends at 1');
  const theirs = JSON.parse(JSON.stringify(labelled(await metricsOf([service(1)]), { host: '1' })));
  const page = await pageOf([...(await metricsOf([service(3), service(4, [wentBack])])), ...theirs]);
  expect(page).toContain(
    'natter_sessions_resident{service="session"} 7\nnatter_sessions_resident{service="session",host="1"} 1\n',
  );
  expect(page).toContain('# TYPE natter_commits_total counter\n');
  expect(page.match(/natter_problems\{.*/g)).toEqual(['natter_problems{service="session",code="queue_went_back"} 1']);
});
