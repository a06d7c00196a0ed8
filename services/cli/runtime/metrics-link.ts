import type { ChildProcess } from 'node:child_process';
import type { Service } from '../../../shared/runtime/service.ts';
import { type Metric, metricsOf } from '../../../shared/runtime/telemetry/metrics.ts';

/** How a session host in a child process gets onto the metrics page of its `natter up`: over their IPC channel. */
const request = 'metrics';
/** A host that does not answer in time is left out of that page. */
const patienceMs = 1_000;

const metricsIn = (message: unknown): Metric[] | null =>
  typeof message === 'object' && message !== null && 'metrics' in message ? (message.metrics as Metric[]) : null;

/** Answers metrics requests of the parent process. */
export const answerMetrics = (services: readonly Service[]): void => {
  process.on('message', (message) => {
    if (message !== request) return;
    void metricsOf(services).then((metrics) => process.send?.({ metrics }));
  });
};

/** The metrics of a child process; empty if it does not answer in time. */
export const metricsFrom = (child: ChildProcess): Promise<Metric[]> =>
  new Promise((resolve) => {
    const done = (metrics: Metric[]): void => {
      clearTimeout(late);
      child.off('message', take);
      resolve(metrics);
    };
    const take = (message: unknown): void => {
      const metrics = metricsIn(message);
      if (metrics) done(metrics);
    };
    const late = setTimeout(() => done([]), patienceMs);
    child.on('message', take);
    if (!child.connected) return done([]);
    child.send(request, (error) => {
      if (error) done([]);
    });
  });
