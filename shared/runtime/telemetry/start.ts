import { context, DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { errorMessage } from '../../kit/errors.ts';
import type { Logger } from '../../kit/log.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Tracing {
  /** Exports the remaining spans within the deadline, then shuts down. Never rejects: no trace justifies a hanging shutdown. */
  stop(deadlineMs: number): Promise<void>;
}
const none: Tracing = { stop: async () => {} };

/** Timeout of one batch, unless `OTEL_EXPORTER_OTLP_TIMEOUT` sets another; also the longest wait at shutdown. */
const exportTimeoutMs = 2_500;
/** A missing collector is logged at most once in this time. */
const tellEveryMs = 60_000;

/** True if the environment requests traces through OpenTelemetry's own variables. */
export const wantsTraces = (env: Environment): boolean => {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return false;
  return [env.OTEL_EXPORTER_OTLP_ENDPOINT, env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, env.OTEL_TRACES_EXPORTER].some(Boolean);
};

/**
 * Starts OpenTelemetry's SDK if the environment requests traces, once per process; otherwise it is not even loaded. Spans go to
 * the collector by OTLP/HTTP in JSON, in batches behind a bounded queue: nothing waits for it, and spans that do not fit are
 * dropped.
 */
export const startTracing = async (env: Environment, name: string, log: Logger): Promise<Tracing> => {
  if (!wantsTraces(env)) return none;
  if (!['otlp', '', undefined].includes(env.OTEL_TRACES_EXPORTER)) {
    log.warn(
      { exporter: env.OTEL_TRACES_EXPORTER },
      'OTEL_TRACES_EXPORTER: only "otlp" and "none" are supported; there are no traces',
    );
    return none;
  }
  const [{ BatchSpanProcessor, NodeTracerProvider }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  tellTrouble(log);
  const timeout = env.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ?? env.OTEL_EXPORTER_OTLP_TIMEOUT;
  const exporter = new OTLPTraceExporter({
    ...(timeout === undefined && { timeoutMillis: exportTimeoutMs }),
  });
  const ours = resources
    .defaultResource()
    .merge(resources.resourceFromAttributes({ 'service.name': name, 'service.instance.id': String(process.pid) }));
  const provider = new NodeTracerProvider({
    resource: ours.merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  // No propagator: our own messages carry the trace, and baggage, which may contain anything, is not sent.
  provider.register({ propagator: null });
  return {
    stop: async (deadlineMs) => {
      const stopped = provider
        .shutdown()
        .catch((error: unknown) => log.warn({ reason: errorMessage(error) }, 'the last traces are lost'));
      await within(deadlineMs, stopped);
      trace.disable();
      context.disable();
      diag.disable();
    },
  };
};

const within = async (ms: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
};

/** Logs the SDK's own problems, above all a missing collector. */
const tellTrouble = (log: Logger): void => {
  let quietUntil = 0;
  const tell = (message: string): void => {
    if (Date.now() < quietUntil) return;
    quietUntil = Date.now() + tellEveryMs;
    log.warn({ reason: message }, 'traces are not exported');
  };
  const silent = (): void => {};
  diag.setLogger({ error: tell, warn: tell, info: silent, debug: silent, verbose: silent }, DiagLogLevel.WARN);
};
