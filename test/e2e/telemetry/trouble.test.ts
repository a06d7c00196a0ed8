import { createServer, type Socket } from 'node:net';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { systemClock } from '../../../shared/kit/clock.ts';
import { isTracing, traced, traceparentNow } from '../../../shared/kit/trace.ts';
import { startTracing, wantsTraces } from '../../../shared/runtime/telemetry/start.ts';
import { afterwards } from '../gateway/setup.ts';
import { startWhole, type Whole } from '../system/whole.ts';
import { startCollector } from './collector.ts';
import { traceTo } from './tracing.ts';

/** Traces are for people who look; nothing that works may notice them. */

test.each([
  [{}, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' }, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c' }, true],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
  [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' }, false],
  [{ OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' }, false],
  [{ OTEL_SERVICE_NAME: 'natter' }, false],
])('%j asks for traces: %s', (env, wanted) => expect(wantsTraces(env)).toBe(wanted));

test('an exporter that is not known is told, and there are no traces', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  await startTracing({ OTEL_TRACES_EXPORTER: 'zipkin' }, 'natter', log);
  expect(isTracing()).toBe(false);
  expect(lines.join('')).toContain('only \\"otlp\\" and \\"none\\" are supported');
});

test('without tracing there is no span, no description of one, and no field in any message', async () => {
  const work = Promise.resolve(1);
  const describeSpan = vi.fn();
  expect(traced(describeSpan, () => work)).toBe(work);
  expect(describeSpan).not.toHaveBeenCalled();
  expect(traceparentNow()).toBeUndefined();

  const whole = await startWhole();
  await whole.say('telegram:7', 'hello');
  const { key, traceparent } = await whole.delivered();
  expect(traceparent).toBeUndefined();
  for (const commit of await whole.commitsOf(key)) expect(commit).not.toHaveProperty('traceparent');
});

/** Takes connections and never says a word. */
const silent = async (): Promise<string> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterwards(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
};
const refusing = async (): Promise<string> => {
  const collector = await startCollector((response) => response.writeHead(503).end());
  return collector.url;
};
const gone = async (): Promise<string> => {
  const collector = await startCollector();
  await collector.close();
  return collector.url;
};

const say = async (whole: Whole, count: number): Promise<void> => {
  for (let said = 0; said < count; said++) {
    await whole.say('telegram:7', '[[steps 2]] hello');
    await whole.delivered();
  }
};

test.each([
  ['hangs', silent],
  ['refuses', refusing],
  ['is away', gone],
])('a collector that %s stops nothing, slows nothing, and a stop is over in time', async (_, collectorUrl) => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const tracing = await traceTo(await collectorUrl(), { OTEL_EXPORTER_OTLP_TIMEOUT: '2500' }, log);
  const whole = await startWhole();
  const began = systemClock.monotonic();
  await say(whole, 5);
  expect(systemClock.monotonic() - began).toBeLessThan(8_000);
  await vi.waitFor(() => expect(lines.join('')).toContain('traces are not exported'));

  const stopped = systemClock.monotonic();
  await tracing.stop(200);
  expect(systemClock.monotonic() - stopped).toBeLessThan(2_000);
  expect(isTracing()).toBe(false);
  await say(whole, 1);
});

test('what has ended by the stop is still exported', async () => {
  const collector = await startCollector();
  const tracing = await traceTo(collector.url, { OTEL_BSP_SCHEDULE_DELAY: '60000' });
  await traced(
    () => ({ name: 'the last one' }),
    async () => {},
  );
  expect(collector.spans).toEqual([]);
  await tracing.stop(2_000);
  expect(collector.named('the last one')).toHaveLength(1);
});

test('a sampler of the environment decides, and who is not sampled is not by the next process either', async () => {
  const collector = await startCollector();
  const tracing = await traceTo(collector.url, { OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
  const whole = await startWhole();
  await whole.say('telegram:7', '[[steps 2]] hello');
  const { traceparent } = await whole.delivered();
  expect(traceparent).toMatch(/-00$/);
  await tracing.stop(2_000);
  expect(collector.spans).toEqual([]);
});
