import type { ChildProcess } from 'node:child_process';
import type { Service } from '../../../shared/runtime/service.ts';
import { type Metric, metricsOf } from '../../../shared/runtime/telemetry/metrics.ts';

/** How a session host in a process of its own gets onto the metrics page of the `natter up` that started it: over the channel they have. */
const question = 'metrics';
/** A host that is too busy to answer is left out of one page. */
const patienceMs = 1_000;

const metricsIn = (message: unknown): Metric[] | null =>
  typeof message === 'object' && message !== null && 'metrics' in message ? (message.metrics as Metric[]) : null;

/** Answers whoever started this process, as long as it runs. */
export const answerMetrics = (services: readonly Service[]): void => {
  process.on('message', (message) => {
    if (message !== question) return;
    void metricsOf(services).then((metrics) => process.send?.({ metrics }));
  });
};

/** What a child measures; empty when it does not say in time. */
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
    child.send(question, (error) => {
      if (error) done([]);
    });
  });
