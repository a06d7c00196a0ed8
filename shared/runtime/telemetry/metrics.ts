import { AggregatorRegistry, Counter, Gauge, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';
import type { HealthProblem } from '../../kit/health-problem.ts';
import { helpOf } from './metric-help.ts';

/** A metric in a form that survives JSON, so that one process can show those of another. */
export type Metric = MetricObjectWithValues<MetricValue<string>>;
/** A source of metrics: a registry, or another process. */
export type MetricSource = Pick<Registry, 'getMetricsAsJSON'>;

/** A part of the system that has metrics. */
export interface Measured {
  readonly name: string;
  /** Plain numbers, by name without the prefix: `sessions_resident`, `commits_total`, … */
  metrics(): Readonly<Record<string, number>>;
  /** Why it cannot do its work now; empty if it is ready. */
  problems(): readonly HealthProblem[];
  /** Histograms and counters with labels (`docs/operate/metrics.md`). */
  readonly series?: MetricSource;
}

/** The current metrics of these services. */
export const metricsOf = async (services: readonly Measured[]): Promise<Metric[]> => {
  const sources: MetricSource[] = [numbersOf(services), problemsOf(services), ...services.flatMap(({ series }) => series ?? [])];
  return (await Promise.all(sources.map((source) => source.getMetricsAsJSON()))).flat();
};

/** The Prometheus page. Series with the same name and labels (several hosts in one process) are added up. */
export const pageOf = (metrics: readonly Metric[]): Promise<string> => AggregatorRegistry.aggregate([[...metrics]]).metrics();
export const pageType: string = Registry.PROMETHEUS_CONTENT_TYPE;

/** The metrics with additional labels on each series. */
export const labelled = (metrics: readonly Metric[], labels: Readonly<Record<string, string>>): Metric[] =>
  metrics.map((metric) => ({
    ...metric,
    values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, ...labels } })),
  }));

/** How many reasons there are now why a service is not ready, by code. */
const problemsOf = (services: readonly Measured[]): Registry => {
  const registry = new Registry();
  const help = 'Reasons why the service is not ready now, by their code in /readyz.';
  const problems = new Gauge({ name: 'natter_problems', help, labelNames: ['service', 'code'], registers: [registry] });
  for (const service of services) for (const { code } of service.problems()) problems.inc({ service: service.name, code });
  return registry;
};

/** The plain numbers of services as metrics: a name that ends in `_total` is a counter, any other a gauge. */
const numbersOf = (services: readonly Measured[]): Registry => {
  const registry = new Registry();
  for (const service of services) {
    for (const [name, value] of Object.entries(service.metrics())) {
      const settings = {
        name: `natter_${name}`.replaceAll(/[^A-Za-z0-9_]/g, '_'),
        help: helpOf(name),
        labelNames: ['service'],
        registers: [registry],
      };
      const known = registry.getSingleMetric(settings.name);
      if (settings.name.endsWith('_total')) ((known as Counter) ?? new Counter(settings)).inc({ service: service.name }, value);
      else ((known as Gauge) ?? new Gauge(settings)).inc({ service: service.name }, value);
    }
  }
  return registry;
};
