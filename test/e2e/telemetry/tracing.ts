import { pino } from 'pino';
import { vi } from 'vitest';
import type { Logger } from '../../../shared/kit/log.ts';
import { startTracing, type Tracing } from '../../../shared/runtime/telemetry/start.ts';
import { afterwards } from '../gateway/setup.ts';

/** Traces in this process, as an operator asks for them; the SDK reads the environment of the process. Ended after the test. */
export const traceTo = async (
  url: string,
  env: Readonly<Record<string, string>> = {},
  log: Logger = pino({ level: 'silent' }),
): Promise<Tracing> => {
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '20', ...env };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  const tracing = await startTracing(all, 'natter', log);
  afterwards(async () => {
    await tracing.stop(1_000);
    vi.unstubAllEnvs();
  });
  return tracing;
};
